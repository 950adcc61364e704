/** A write as a component uses it: one at a time, sent until it is answered, once for each intent. */

import { useRef, useState } from "react";
import { type Answer, type Data, Intent, type Progress, persist } from "./client";

export interface Keyed {
  headers: { "Idempotency-Key": string };
  signal: AbortSignal;
}

export interface Write<B> {
  /** Does nothing while the one before is under way: a second click is no second intent. */
  send(body: B): Promise<void>;
  /** What is going on, while something is. */
  progress: Progress | undefined;
  error: unknown;
  /** Stops trying. What was sent may have been done; sent again unchanged, it is not done twice. */
  cancel(): void;
  /** Forgets the failure. */
  clear(): void;
}

export function useWrite<B, A extends Answer>(
  call: (body: B, keyed: Keyed) => Promise<A>,
  onDone: (done: Data<A>, body: B) => void,
  onFailed?: (error: unknown) => void,
): Write<B> {
  const intent = useRef(new Intent());
  const running = useRef<AbortController>(undefined);
  const [state, setState] = useState<{ progress?: Progress; error?: unknown }>({});

  const send = async (body: B) => {
    if (running.current) return;
    const controller = new AbortController();
    running.current = controller;
    const { signal } = controller;
    try {
      const headers = intent.current.header(body);
      const done = await persist(() => call(body, { headers, signal }), {
        signal,
        onProgress: (progress) => setState({ progress }),
      });
      intent.current = new Intent();
      running.current = undefined;
      setState({});
      onDone(done, body);
    } catch (error) {
      running.current = undefined;
      setState(signal.aborted ? {} : { error });
      if (!signal.aborted) onFailed?.(error);
    }
  };
  return {
    send,
    progress: state.progress,
    error: state.error,
    cancel: () => running.current?.abort(),
    clear: () => setState({}),
  };
}
