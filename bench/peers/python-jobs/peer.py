"""A job of the same effect as Ringi's (one HTTP call, one result row) in PgQueuer and in Procrastinate.

`python peer.py pgqueuer|procrastinate setup|work`
"""

import asyncio
import json
import os
import sys

import aiohttp
import asyncpg
import procrastinate
from pgqueuer import AsyncpgPoolDriver, PgQueuer, Queries

HOST, DATABASE, USER = os.environ["PEER_SOCKET_DIR"], os.environ["PEER_DATABASE"], os.environ["PEER_USER"]
TARGET, JOBS = os.environ.get("PEER_TARGET", ""), int(os.environ.get("PEER_JOBS", "0"))


def order(n):
    return {"n": n, "title": "Standing desk", "amount": 12000, "currency": "JPY", "applicant": "aiko", "approver": "ben"}


def pool():
    return asyncpg.create_pool(host=HOST, database=DATABASE, user=USER, min_size=10, max_size=10)


class Worker:
    """What both do for a job."""

    async def open(self):
        self.pool = await pool()
        self.http = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60))

    async def job(self, data):
        headers = {"idempotency-key": f"peer-{data['n']}", "ringi-fence": "1"}
        async with self.http.post(TARGET, json=data, headers=headers) as answer:
            answer.raise_for_status()
            result = await answer.text()
        await self.pool.execute("INSERT INTO peer_result (job, data) VALUES ($1, $2::jsonb)", data["n"], result)


worker = Worker()
app = procrastinate.App(
    connector=procrastinate.PsycopgConnector(kwargs={"host": HOST, "dbname": DATABASE, "user": USER}, min_size=4, max_size=10)
)


@app.task(name="job")
async def job(**data):
    await worker.job(data)


async def pgqueuer_setup():
    async with pool() as open_pool:
        queries = Queries(AsyncpgPoolDriver(open_pool))
        await queries.install()
        for first in range(1, JOBS + 1, 1000):
            some = [json.dumps(order(n)).encode() for n in range(first, min(first + 1000, JOBS + 1))]
            await queries.enqueue(["job"] * len(some), some, [0] * len(some))


async def pgqueuer_work():
    await worker.open()
    async with pool() as open_pool:
        queue = PgQueuer(AsyncpgPoolDriver(open_pool))

        @queue.entrypoint("job")
        async def entrypoint(job):
            await worker.job(json.loads(job.payload))

        await queue.run(batch_size=50)


async def procrastinate_setup():
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for first in range(1, JOBS + 1, 1000):
            await job.batch_defer_async(*[order(n) for n in range(first, min(first + 1000, JOBS + 1))])


async def procrastinate_work():
    await worker.open()
    async with app.open_async():
        await app.run_worker_async(concurrency=16, fetch_job_polling_interval=0.2, delete_jobs="never")


async def main():
    library, step = sys.argv[1:]
    if step == "setup":
        connection = await asyncpg.connect(host=HOST, database=DATABASE, user=USER)
        await connection.execute("CREATE TABLE peer_result (job int PRIMARY KEY, data jsonb NOT NULL)")
        await connection.close()
    await globals()[f"{library}_{step}"]()


asyncio.run(main())
