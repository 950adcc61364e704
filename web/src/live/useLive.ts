/** What others do is seen without asking: this keeps the open views as the server has them. */

import { useEffect, useState } from "react";
import { ApiError, NoAnswer } from "../api/errors";
import { changed, countsQuery, meQuery, queryClient, refresh, stale } from "../api/queries";
import { listen, type Told } from "./stream";

export type Live = "live" | "lost";

/** How long is waited before the first look at what was told, and between looks while more and more is told. */
const [FIRST_LOOK, NEXT_LOOK] = [5, 250];
/** A page that is hidden for so long stops listening until it is seen again: over HTTP/1.1 a browser has six connections for
 * all its pages of a server. */
const HIDDEN = 60_000;
/** The pauses between tries to connect again. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 10_000];

export function useLive(org: string): Live {
  const [live, setLive] = useState<Live>("live");
  useEffect(() => {
    const stop = new AbortController();
    void follow(org, stop.signal, setLive);
    const lost = () => setLive("lost");
    window.addEventListener("offline", lost);
    return () => {
      stop.abort();
      window.removeEventListener("offline", lost);
    };
  }, [org]);
  return live;
}

/** Listens, and listens again after each end, from where it was. */
async function follow(org: string, signal: AbortSignal, setLive: (live: Live) => void): Promise<void> {
  const told = gathering(org);
  let at: string | undefined;
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    const seen = watched(signal);
    try {
      await seen.again;
      await listen(org, at, seen.signal, {
        open() {
          setLive("live");
          pause = FIRST_PAUSE;
          // What was read before somebody listened may be old by now; from a known place on, everything is told.
          if (at === undefined) void refresh(org);
        },
        at(id) {
          at = id;
        },
        told,
      });
    } catch (error) {
      if (signal.aborted) return;
      if (seen.signal.aborted) continue;
      setLive((await lookedInstead(org, error)) ? "live" : "lost");
    } finally {
      seen.end();
    }
    await waited(pause + Math.random() * pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

/** Nothing is told just now: looks at what is open instead. False when the server can't be reached at all. */
async function lookedInstead(org: string, error: unknown): Promise<boolean> {
  try {
    // The membership has ended, perhaps: the page goes by that.
    if (error instanceof ApiError && error.status === 403) await stale(...meQuery.queryKey);
    await queryClient.fetchQuery({ ...countsQuery(org), staleTime: 0, retry: false });
  } catch (answer) {
    return !(answer instanceof NoAnswer);
  }
  await refresh(org);
  return true;
}

/** The first is looked at at once, a burst after it together: one look ends before the next one begins. */
function gathering(org: string): (told: Told) => void {
  let waiting = new Map<string, Told>();
  let looking = false;
  const look = async () => {
    looking = true;
    for (let rest = FIRST_LOOK; waiting.size > 0; rest = NEXT_LOOK) {
      await new Promise((resolve) => setTimeout(resolve, rest));
      const batch = [...waiting.values()];
      waiting = new Map();
      await lookAt(org, batch);
    }
    looking = false;
  };
  return (told) => {
    waiting.set(`${told.kind}/${told.requestId}`, told);
    if (!looking) void look();
  };
}

/** What has to be read again for what was told. */
async function lookAt(org: string, batch: Told[]): Promise<void> {
  const kinds = new Set(batch.map((told) => told.kind));
  const requests = [...new Set(batch.flatMap((told) => told.requestId ?? []))];
  const known = ["request", "job", "closing", "webhook"];
  // A member's rights decide what everything looks like; and what is not known may be about anything.
  if ([...kinds].some((kind) => !known.includes(kind))) return refresh(org);
  const looks = requests.map((id) => stale("request", org, id));
  if (kinds.has("request") || kinds.has("job"))
    looks.push(changed(org, requests.length === 1 ? requests[0] : undefined));
  if (kinds.has("closing")) looks.push(stale("closing", org), stale("statements", org), stale("statement", org));
  if (kinds.has("webhook")) looks.push(stale("webhooks", org));
  // Whatever happens, a webhook has something to deliver.
  looks.push(stale("webhook", org));
  await Promise.all(looks);
}

/** Whether somebody sees the page: `again` when he does, and `signal` is aborted when he has not for a while, when the network
 * has come back (what was open before may be dead, and nobody says so), or by `outer`. */
function watched(outer: AbortSignal) {
  const anew = new AbortController();
  const ended = new AbortController();
  const signal = AbortSignal.any([outer, anew.signal]);
  window.addEventListener("online", () => anew.abort(), { signal: ended.signal });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const again = new Promise<void>((resolve) => {
    const look = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") resolve();
      else timer = setTimeout(() => anew.abort(), HIDDEN);
    };
    look();
    document.addEventListener("visibilitychange", look, { signal: ended.signal });
    outer.addEventListener("abort", () => resolve(), { once: true, signal: ended.signal });
  });
  const end = () => {
    clearTimeout(timer);
    ended.abort();
  };
  return { again, signal, end };
}

/** Waits; the network or the person coming back ends it. */
function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      document.removeEventListener("visibilitychange", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    document.addEventListener("visibilitychange", done);
    signal.addEventListener("abort", done);
  });
}
