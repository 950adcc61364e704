/** Server-Sent Events, read with fetch, since `EventSource` can send no token. */

import { EventSourceParserStream } from "eventsource-parser/stream";
import { authorized } from "../api/client";
import { ApiError, foreign, NoAnswer } from "../api/errors";

/** What somebody did, as far as the page goes by it. */
export interface Told {
  /** What it is about, such as `request`; `resync` when more happened than can be told. */
  kind: string;
  /** The request that it is about, if any. */
  requestId?: string;
}

/** After how much silence a connection counts as dead: the server gives a sign of life every 15 s. */
const SILENCE = 45_000;

/**
 * Calls `on.told` for everything that happens from now on, or since `from`. Ends when the server ends it; fails with
 * [`ApiError`] where nobody may listen (any more, or just now), and with [`NoAnswer`] when the connection breaks.
 */
export async function listen(
  org: string,
  from: string | undefined,
  signal: AbortSignal,
  on: { open(): void; told(told: Told): void; at(id: string): void },
): Promise<void> {
  const quiet = new AbortController();
  const either = AbortSignal.any([signal, quiet.signal]);
  const headers: Record<string, string> = { Accept: "text/event-stream" };
  if (from !== undefined) headers["Last-Event-ID"] = from;
  const url = `${location.origin}/api/v1/organizations/${org}/events`;
  // A proxy that holds everything back is silent from the start.
  let timer = setTimeout(() => quiet.abort(), SILENCE);
  const alive = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      clearTimeout(timer);
      timer = setTimeout(() => quiet.abort(), SILENCE);
      controller.enqueue(chunk);
    },
  });
  try {
    const response = await authorized(new Request(url, { headers, signal: either, cache: "no-store" }));
    if (!response.ok || !response.body) throw new ApiError(foreign(response.status));
    on.open();
    const events = response.body
      .pipeThrough(alive)
      .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
      .pipeThrough(new EventSourceParserStream());
    const reader = events.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.id !== undefined) on.at(value.id);
      on.told(read(value.event, value.data));
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
    throw new NoAnswer("the stream broke off", { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** What can't be read is something that happened, all the same. */
export function read(event: string | undefined, text: string): Told {
  const [kind = ""] = (event ?? "").split(".");
  try {
    const { data } = JSON.parse(text) as { data?: { request_id?: string | null } };
    return { kind, requestId: data?.request_id ?? undefined };
  } catch {
    return { kind };
  }
}
