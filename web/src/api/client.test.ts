import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { session } from "../auth/session";
import { api, data, Intent, persist } from "./client";
import { ApiError, isPassing, NoAnswer, retryAfter } from "./errors";

type Reply = { status: number; body?: unknown; headers?: Record<string, string> } | "silence";

/** Answers one call after the other, and remembers what was sent. */
function server(...replies: Reply[]) {
  const sent: { key: string | null; token: string | null; body: string }[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push({
      key: request.headers.get("Idempotency-Key"),
      token: request.headers.get("Authorization"),
      body: await request.text(),
    });
    const reply = replies.shift() ?? { status: 200, body: {} };
    if (reply === "silence") throw new TypeError("Failed to fetch");
    return new Response(JSON.stringify(reply.body ?? {}), {
      status: reply.status,
      headers: { "Content-Type": "application/json", ...reply.headers },
    });
  });
  return sent;
}

const problem = (status: number, code: string): Reply => ({
  status,
  body: { type: "", title: "", status, detail: "", code, request_id: "r" },
  headers: { "Retry-After": "0" },
});

const accept = (intent: Intent, body: { token: string }) => () =>
  api.POST("/api/v1/invitations/accept", { params: { header: intent.header(body) }, body });

beforeEach(() => void vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 100 }));
afterEach(() => {
  session.signOut();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const patience = () => ({ signal: new AbortController().signal, onProgress: vi.fn() });

test("an intent has one key, and another body is another intent", () => {
  const intent = new Intent();
  const key = intent.keyFor({ version: 1 });
  expect(key).toMatch(/^[0-9a-f]{32}$/);
  expect(intent.keyFor({ version: 1 })).toBe(key);
  expect(intent.keyFor({ version: 2 })).not.toBe(key);
});

test("without an answer the same call is sent again under the same key, until there is one", async () => {
  const sent = server("silence", "silence", problem(503, "busy"), problem(409, "idempotency_in_progress"), {
    status: 201,
    body: { ok: 1 },
  });
  const { signal, onProgress } = patience();
  const intent = new Intent();
  await expect(persist(accept(intent, { token: "t" }), { signal, onProgress })).resolves.toEqual({ ok: 1 });
  expect(sent).toHaveLength(5);
  expect(new Set(sent.map((call) => call.key)).size).toBe(1);
  expect(new Set(sent.map((call) => call.body)).size).toBe(1);
  expect(onProgress.mock.calls.map(([progress]) => progress)).toContain("offline");
});

test("a conflict is an answer: nothing is sent again", async () => {
  const sent = server(problem(409, "request_changed"));
  await expect(persist(accept(new Intent(), { token: "t" }), patience())).rejects.toMatchObject({
    code: "request_changed",
  });
  expect(sent).toHaveLength(1);
});

test("a service that stays busy is told to the person", async () => {
  const sent = server(...Array.from({ length: 9 }, () => problem(503, "busy")));
  await expect(persist(accept(new Intent(), { token: "t" }), patience())).rejects.toMatchObject({ code: "busy" });
  expect(sent).toHaveLength(6);
});

test("who stops is not sent again", async () => {
  const stop = new AbortController();
  const sent = server(...Array.from({ length: 50 }, () => "silence" as const));
  const sending = persist(accept(new Intent(), { token: "t" }), { signal: stop.signal, onProgress: () => undefined });
  await vi.waitFor(() => expect(sent.length).toBeGreaterThan(1));
  stop.abort();
  await expect(sending).rejects.toThrow();
  const tries = sent.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent.length).toBe(tries);
});

test("an expired token makes the call wait for the next one, and keeps its key", async () => {
  session.signIn({ token: "old", way: { kind: "pasted" } }, "user");
  const sent = server(problem(401, "unauthenticated"), { status: 201, body: { ok: 1 } });
  const sending = persist(accept(new Intent(), { token: "t" }), patience());
  await vi.waitFor(() => expect(session.state().phase).toBe("expired"));
  expect(sent).toHaveLength(1);
  session.signIn({ token: "new", way: { kind: "pasted" } }, "user");
  await expect(sending).resolves.toEqual({ ok: 1 });
  expect(sent.map((call) => call.token)).toEqual(["Bearer old", "Bearer new"]);
  expect(sent[0]?.key).toBe(sent[1]?.key);
});

test("what waited in the name of one person is not sent for another", async () => {
  session.signIn({ token: "old", way: { kind: "pasted" } }, "user");
  const sent = server(problem(401, "unauthenticated"));
  const sending = persist(accept(new Intent(), { token: "t" }), patience());
  const refused = expect(sending).rejects.toMatchObject({ name: "SignedOut" });
  await vi.waitFor(() => expect(session.state().phase).toBe("expired"));
  session.signOut();
  await refused;
  expect(sent).toHaveLength(1);
});

test("a token that can be renewed is, once for all calls that wait", async () => {
  session.signIn({ token: "old", way: { kind: "provider" } }, "user");
  const renew = vi.fn(async () => ({ token: "new", way: { kind: "provider" } as const }));
  const before = session.renew;
  session.renew = renew;
  const sent = server(problem(401, "unauthenticated"), problem(401, "unauthenticated"));
  await Promise.all([data(api.GET("/api/v1/me")), data(api.GET("/api/v1/me"))]);
  session.renew = before;
  expect(renew).toHaveBeenCalledTimes(1);
  expect(session.state().phase).toBe("in");
  expect(sent.map((call) => call.token)).toEqual(["Bearer old", "Bearer old", "Bearer new", "Bearer new"]);
});

test("failures are told apart", async () => {
  server({ status: 502, body: "<html>" }, "silence");
  await expect(data(api.GET("/api/v1/me"))).rejects.toMatchObject({ code: "busy" });
  await expect(data(api.GET("/api/v1/me"))).rejects.toBeInstanceOf(NoAnswer);
  expect(
    isPassing(new ApiError({ type: "", title: "", status: 409, detail: "", code: "request_changed", request_id: "" })),
  ).toBe(false);
  expect(retryAfter("3")).toBe(3000);
  expect(retryAfter("Mon, 30 Nov 2026 18:00:10 GMT", Date.parse("2026-11-30T18:00:00Z"))).toBe(10_000);
  expect(retryAfter(null)).toBeUndefined();
});
