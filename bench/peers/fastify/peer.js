// An approval in Fastify with pg: two processes, eight connections each.
import cluster from "node:cluster";
import Fastify from "fastify";
import jwt from "@fastify/jwt";
import pg from "pg";

const { PEER_DATABASE, PEER_SOCKET_DIR, PEER_USER, PEER_OPTIONS, PEER_SECRET, PEER_PORT } = process.env;
const NO_HASH = Buffer.alloc(32);

// Named statements are prepared once per connection.
const MEMBER = { name: "member", text: `SELECT display_name, is_active, can_approve FROM organization_member
  WHERE organization_id = $1 AND user_id = $2 FOR SHARE` };
const REQUEST = { name: "request", text: `SELECT applicant_id, title, description, amount, currency, status, version,
  content_hash, created_at, submitted_at FROM approval_request WHERE organization_id = $1 AND id = $2 FOR UPDATE` };
const UPDATE = { name: "update", text: `UPDATE approval_request SET status = 'approved', version = version + 1,
  updated_at = clock_timestamp(), decided_at = clock_timestamp(), last_action = 'approve', last_actor_id = $1,
  last_actor_name = $2, chain_hash = $3 WHERE organization_id = $4 AND id = $5 AND version = $6 RETURNING updated_at` };
const HISTORY = { name: "history", text: `INSERT INTO approval_history (organization_id, request_id, version, actor_id,
  actor_name, action, from_status, to_status, content_hash, occurred_at, hash_format, entry_hash)
  VALUES ($1, $2, $3, $4, $5, 'approve', 'pending', 'approved', $6, $7, 1, $8)` };
const EVENT = { name: "event", text: `INSERT INTO outbox_event (organization_id, subject_kind, subject_id, seq,
  event_type, payload, occurred_at) VALUES ($1, 'request', $2, $3, 'request.approve', $4, $5)` };

async function serve() {
  const pool = new pg.Pool({ host: PEER_SOCKET_DIR, database: PEER_DATABASE, user: PEER_USER, options: PEER_OPTIONS, max: 8 });
  const app = Fastify({ logger: false });
  await app.register(jwt, { secret: PEER_SECRET, verify: { algorithms: ["HS256"], requiredClaims: ["exp", "sub"] } });

  app.get("/health/ready", async () => ({ status: "ready" }));

  app.post("/api/v1/organizations/:org/requests/:id/approve", {
    preHandler: async (request) => request.jwtVerify(),
    schema: { body: { type: "object", required: ["version"], properties: { version: { type: "integer" } } } },
  }, async (request, reply) => {
    const { org, id } = request.params;
    const user = request.user.sub;
    const client = await pool.connect();
    let open = false;
    const refuse = async (status, code) => {
      await client.query("ROLLBACK");
      open = false;
      return reply.code(status).send({ code });
    };
    try {
      await client.query("BEGIN");
      open = true;
      const member = (await client.query({ ...MEMBER, values: [org, user] })).rows[0];
      if (!member?.is_active) return await refuse(403, "not_a_member");
      const row = (await client.query({ ...REQUEST, values: [org, id] })).rows[0];
      if (!row) return await refuse(404, "not_found");
      const version = Number(row.version);
      if (version !== request.body.version || row.status !== "pending") return await refuse(409, "request_changed");
      if (!member.can_approve || row.applicant_id === user) return await refuse(403, "forbidden");
      const updated = await client.query({ ...UPDATE, values: [user, member.display_name, NO_HASH, org, id, version] });
      const at = updated.rows[0].updated_at;
      await client.query({ ...HISTORY, values: [org, id, version + 1, user, member.display_name, row.content_hash, at, NO_HASH] });
      const event = { organization_id: org, request_id: id, version: version + 1, action: "approve", status: "approved",
        actor_id: user, occurred_at: at };
      await client.query({ ...EVENT, values: [org, id, version + 1, event, at] });
      await client.query("COMMIT");
      open = false;
      return { id, organization_id: org, applicant_id: row.applicant_id, title: row.title, description: row.description,
        amount: row.amount === null ? null : Number(row.amount), currency: row.currency, status: "approved",
        version: version + 1, content_hash: row.content_hash.toString("hex"), created_at: row.created_at,
        submitted_at: row.submitted_at, updated_at: at, decided_at: at };
    } finally {
      if (open) await client.query("ROLLBACK");
      client.release();
    }
  });

  await app.listen({ host: "127.0.0.1", port: Number(PEER_PORT) });
}

if (cluster.isPrimary) {
  for (let worker = 0; worker < 2; worker += 1) cluster.fork();
  // A worker that can't start ends the peer: the bench then says so.
  cluster.on("exit", () => process.exit(1));
} else {
  await serve();
}
