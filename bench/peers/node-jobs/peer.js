// A job of the same effect as Ringi's (one HTTP call, one result row) in graphile-worker and in pg-boss.
// `node peer.js graphile|pgboss setup|work`
import http from "node:http";
import pg from "pg";
import { run, runMigrations } from "graphile-worker";
import PgBoss from "pg-boss";

const [library, step] = process.argv.slice(2);
const { PEER_DATABASE, PEER_SOCKET_DIR, PEER_USER, PEER_TARGET, PEER_JOBS } = process.env;
const connection = { host: PEER_SOCKET_DIR, database: PEER_DATABASE, user: PEER_USER };
const pgPool = new pg.Pool({ ...connection, max: 10 });
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

const RESULT = { name: "result", text: "INSERT INTO peer_result (job, data) VALUES ($1, $2)" };

/** One POST; its JSON. */
function ask(order) {
  const body = JSON.stringify(order);
  return new Promise((resolve, reject) => {
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "idempotency-key": `peer-${order.n}`,
      "ringi-fence": "1",
    };
    const request = http.request(PEER_TARGET, { method: "POST", agent, headers, timeout: 60_000 }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => { text += chunk; });
      answer.on("end", () => answer.statusCode === 200 ? resolve(JSON.parse(text)) : reject(new Error(`status ${answer.statusCode}`)));
      answer.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function job(order) {
  const answer = await ask(order);
  await pgPool.query({ ...RESULT, values: [order.n, answer] });
}

const order = (n) => ({ n, title: "Standing desk", amount: 12000, currency: "JPY", applicant: "aiko", approver: "ben" });
const LIBRARIES = {
  graphile: {
    async setup(jobs) {
      await runMigrations({ pgPool });
      await pgPool.query(
        `SELECT graphile_worker.add_job('job', json_build_object('n', n, 'title', 'Standing desk', 'amount', 12000,
          'currency', 'JPY', 'applicant', 'aiko', 'approver', 'ben')) FROM generate_series(1, $1::int) n`, [jobs]);
    },
    async work() {
      const quiet = { debug() {}, info() {}, warn: console.error, error: console.error };
      const { Logger } = await import("graphile-worker");
      const logger = new Logger(() => (level, message) => { if (level === "error") quiet.error(message); });
      const runner = await run({ pgPool, concurrency: 16, pollInterval: 200, logger, taskList: { job } });
      await runner.promise;
    },
  },
  pgboss: {
    boss() {
      const boss = new PgBoss({ ...connection, max: 10, supervise: false, schedule: false });
      boss.on("error", console.error);
      return boss;
    },
    async setup(jobs) {
      const boss = this.boss();
      await boss.start();
      await boss.createQueue("job");
      for (let n = 0; n < jobs; n += 1000) {
        const some = Array.from({ length: Math.min(1000, jobs - n) }, (_, k) => ({ name: "job", data: order(n + k + 1) }));
        await boss.insert(some);
      }
      await boss.stop({ graceful: false });
    },
    async work() {
      const boss = this.boss();
      await boss.start();
      // It asks again after half a second at the earliest: many at a time, and several who ask.
      for (let worker = 0; worker < 4; worker += 1) {
        await boss.work("job", { batchSize: 250, pollingIntervalSeconds: 0.5 }, async (jobs) => {
          await Promise.all(jobs.map(({ data }) => job(data)));
        });
      }
    },
  },
};

if (step === "setup") {
  await pgPool.query("CREATE TABLE peer_result (job int PRIMARY KEY, data jsonb NOT NULL)");
  await LIBRARIES[library].setup(Number(PEER_JOBS));
  process.exit(0);
} else {
  await LIBRARIES[library].work();
}
