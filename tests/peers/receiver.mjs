// A receiver of webhooks, as others write one: it verifies each delivery by the package of Standard Webhooks, writes down
// what came as a line of JSON on stdout, and answers as its paths are told to on stdin:
//
//   {"path": "/in", "secrets": ["whsec_..."], "status": 204, "headers": {}, "body": "", "hang": false, "hold": false, "endless": false}
//
// `flaky`: of so many events one is answered 500 at its first attempt; `hang`: never answers; `hold`: answers when the path is told something else, and by that; `endless`: with a gigabyte.
// A path that was told nothing answers 204 and verifies nothing. The first line of stdout says the port.

import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

const told = new Map();
const held = new Map();
const known = new Set();

function verifies(secret, body, headers) {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

const server = createServer(async (request, response) => {
  const path = request.url.split("?")[0];
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return; // Whoever sent is gone.
  }
  const body = Buffer.concat(chunks).toString("utf8");
  const now = () => ({ status: 204, headers: {}, secrets: [], ...told.get(path) });
  let mood = now();
  const id = request.headers["webhook-id"] ?? "";
  if (mood.flaky && !known.has(id) && Number.parseInt(id.slice(4, 12), 16) % mood.flaky === 0) mood.status = 500;
  known.add(id);
  const seen = {
    path,
    method: request.method,
    id,
    timestamp: Number(request.headers["webhook-timestamp"]),
    signatures: (request.headers["webhook-signature"] ?? "").split(" ").length,
    type: request.headers["content-type"],
    verified: mood.secrets.map((secret) => verifies(secret, body, request.headers)),
    body,
    status: mood.hang ? null : mood.status,
  };
  process.stdout.write(`${JSON.stringify(seen)}\n`);
  if (mood.hang) return;
  if (mood.hold) {
    await new Promise((release) => held.set(path, [...(held.get(path) ?? []), release]));
    mood = now();
  }
  response.writeHead(mood.status, mood.headers);
  if (!mood.endless) {
    response.end(mood.body ?? "");
    return;
  }
  const block = Buffer.alloc(1 << 16, "x");
  let left = 1 << 30;
  const more = () => {
    while (left > 0 && !response.destroyed) {
      left -= block.length;
      if (!response.write(block)) return response.once("drain", more);
    }
    response.end();
  };
  more();
});

createInterface({ input: process.stdin }).on("line", (line) => {
  const { path, ...mood } = JSON.parse(line);
  told.set(path, mood);
  for (const release of held.get(path) ?? []) release();
  held.delete(path);
  process.stdout.write(`${JSON.stringify({ told: path })}\n`);
});
// Whoever started it is gone.
process.stdin.on("end", () => process.exit(0));

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`));
