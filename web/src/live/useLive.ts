/** What others do is seen without asking: this keeps the open views as the server has them. */

import { useEffect, useState } from "react";
import { ApiError, NoAnswer } from "../api/errors";
import { changed, countsQuery, queryClient } from "../api/queries";
import { listen, type Told } from "./stream";

export type Live = "live" | "lost";

/** How often is asked where nothing tells of changes. */
const EVERY = 15_000;
/** What happens in such a short time is looked at together, in milliseconds. */
const TOGETHER = 60;
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

/** Listens, and listens again after each end; asks instead where there is nothing to listen to. */
async function follow(org: string, signal: AbortSignal, setLive: (live: Live) => void): Promise<void> {
  const gather = gathering(org);
  let at: string | undefined;
  let pause = FIRST_PAUSE;
  let missed = false;
  while (!signal.aborted) {
    try {
      await listen(org, at, signal, {
        open() {
          setLive("live");
          pause = FIRST_PAUSE;
          // Between two connections anything may have happened.
          if (missed) refresh(org);
          missed = false;
        },
        at(id) {
          at = id;
        },
        told: gather,
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.code === "not_found") return ask(org, signal, setLive);
      if (error instanceof NoAnswer && !(await isThere(org))) setLive("lost");
    }
    missed = true;
    await waited(pause + Math.random() * pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE);
  }
}

/** A stream may break where the server can be reached all the same, as when it is told to stop. */
async function isThere(org: string): Promise<boolean> {
  try {
    await queryClient.fetchQuery({ ...countsQuery(org), staleTime: 0, retry: false });
    return true;
  } catch (error) {
    return !(error instanceof NoAnswer);
  }
}

function refresh(org: string): void {
  changed(org);
  void queryClient.invalidateQueries({ queryKey: ["request", org] });
  void queryClient.invalidateQueries({ queryKey: ["closing", org] });
}

/** A burst of events is looked at once. */
function gathering(org: string): (told: Told) => void {
  const requests = new Set<string>();
  let awaited = false;
  const look = () => {
    awaited = false;
    for (const id of requests) void queryClient.invalidateQueries({ queryKey: ["request", org, id] });
    changed(org, requests.size === 1 ? [...requests][0] : undefined);
    void queryClient.invalidateQueries({ queryKey: ["closing", org] });
    requests.clear();
  };
  return ({ requestId }) => {
    if (requestId) requests.add(requestId);
    if (!awaited) setTimeout(look, TOGETHER);
    awaited = true;
  };
}

/** Asks for the counts again and again; when they move, everything else is asked for again, too. */
async function ask(org: string, signal: AbortSignal, setLive: (live: Live) => void): Promise<void> {
  let before = "";
  while (!signal.aborted) {
    if (document.visibilityState === "visible") {
      try {
        const counts = JSON.stringify(
          await queryClient.fetchQuery({ ...countsQuery(org), staleTime: 0, retry: false }),
        );
        setLive("live");
        if (before !== "" && before !== counts) refresh(org);
        else void queryClient.invalidateQueries({ queryKey: ["request", org] });
        before = counts;
      } catch (error) {
        if (error instanceof NoAnswer) setLive("lost");
      }
    }
    await waited(EVERY, signal);
  }
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
