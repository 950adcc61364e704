/** Every call to the server goes through here: the token, problems as errors, and writes that are sent until answered. */

import createClient, { type FetchResponse } from "openapi-fetch";
import { session } from "../auth/session";
import { ApiError, foreign, isPassing, NoAnswer, retryAfter } from "./errors";
import type { Problem, paths } from "./types";

/** A call with the token of now; when it has run out, with the next one of the same person. */
export async function authorized(request: Request): Promise<Response> {
  for (;;) {
    const token = session.token();
    const attempt = request.clone();
    if (token) attempt.headers.set("Authorization", `Bearer ${token}`);
    const response = await answered(attempt);
    if (response.status !== 401 || !token) return response;
    await session.renewed(token, request.signal);
  }
}

async function answered(request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new NoAnswer("no answer", { cause: error });
  }
}

const baseUrl = globalThis.location?.origin ?? "http://localhost";

export const api = createClient<paths>({ baseUrl, fetch: authorized });
/** Without the session's token. */
export const plain = createClient<paths>({ baseUrl, fetch: answered });

export type Answer = FetchResponse<never, never, never> | { data?: unknown; error?: unknown; response: Response };
export type Data<A> = A extends { data?: infer D } ? NonNullable<D> : never;

/** What a call answered, or its problem as an error. */
export async function data<A extends Answer>(call: Promise<A>): Promise<Data<A>> {
  const { data, error, response } = (await call) as { data?: unknown; error?: unknown; response: Response };
  if (response.ok) return data as Data<A>;
  throw problemOf(response, error);
}

export function problemOf(response: Response, error: unknown): ApiError {
  const ours = typeof error === "object" && error !== null && "code" in error && "detail" in error;
  return new ApiError(
    ours ? (error as Problem) : foreign(response.status),
    retryAfter(response.headers.get("Retry-After")),
  );
}

/**
 * What somebody wants done, once. The server knows it by its key: sent again, with the same body, it is not done again.
 * Another body is another intent, and gets another key.
 */
export class Intent {
  #body = "";
  #key = "";

  keyFor(body: unknown): string {
    const text = JSON.stringify(body);
    if (this.#key === "" || text !== this.#body) {
      this.#body = text;
      this.#key = newKey();
    }
    return this.#key;
  }

  header(body: unknown): { "Idempotency-Key": string } {
    return { "Idempotency-Key": this.keyFor(body) };
  }
}

function newKey(): string {
  // `crypto.randomUUID` is missing where the page came over plain HTTP from another machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** How a write that has no answer yet is getting on. */
export type Progress = "sending" | "offline" | "waiting";

export interface Persistence {
  signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/** A service that is busy is asked so often; no network at all is waited out. */
const BUSY_TRIES = 6;

/**
 * Sends a write until there is an answer. Only what passes is tried again, with the same key and body, so that it is
 * done once however often it arrives. A conflict is an answer, and is never tried again.
 */
export async function persist<A extends Answer>(
  call: () => Promise<A>,
  { signal, onProgress }: Persistence,
): Promise<Data<A>> {
  for (let tries = 1; ; tries += 1) {
    try {
      onProgress("sending");
      return await data(call());
    } catch (error) {
      signal.throwIfAborted();
      const silent = error instanceof NoAnswer;
      if (!isPassing(error) || (!silent && tries >= BUSY_TRIES)) throw error;
      onProgress(silent ? "offline" : "waiting");
      const asked = error instanceof ApiError ? error.retryAfter : undefined;
      await pause(asked ?? Math.min(500 * 2 ** (tries - 1), 5_000), signal, silent);
    }
  }
}

/** Waits; the network coming back ends a wait for it. */
function pause(ms: number, signal: AbortSignal, forNetwork: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", done);
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const stop = () => {
      clearTimeout(timer);
      globalThis.removeEventListener?.("online", done);
      reject(signal.reason);
    };
    const timer = setTimeout(done, ms);
    if (forNetwork) globalThis.addEventListener?.("online", done);
    signal.addEventListener("abort", stop, { once: true });
  });
}
