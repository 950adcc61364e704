/** Why a call did not do what it was asked for. */

import type { Charge, Current, Member, Problem, Violation, Webhook } from "./types";

/** The server answered with a problem. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly problem: Problem,
    /** When to ask again, in milliseconds. */
    readonly retryAfter?: number,
  ) {
    super(`${problem.code}: ${problem.detail}`);
  }

  get code(): string {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }

  get violations(): readonly Violation[] {
    return this.problem.errors ?? [];
  }

  /** How a request stands now, for the one who was too late. */
  get current(): Current | undefined {
    const tells = this.code === "request_changed" || this.code === "invalid_transition";
    return tells ? (this.problem.current as unknown as Current) : undefined;
  }

  get currentMember(): Member | undefined {
    return this.code === "member_changed" ? (this.problem.current as unknown as Member) : undefined;
  }

  get currentWebhook(): Webhook | undefined {
    return this.code === "webhook_changed" ? (this.problem.current as unknown as Webhook) : undefined;
  }

  get currentCharge(): Charge | undefined {
    return this.code === "charge_changed" ? (this.problem.current as unknown as Charge) : undefined;
  }
}

/** No answer came: nobody knows whether the call arrived. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
}

/** Somebody else signed in, or nobody: what was asked for in the name of the one before is not asked any more. */
export class SignedOut extends Error {
  override readonly name = "SignedOut";
}

/** An answer that is no problem of ours, such as a proxy's page. */
export function foreign(status: number): Problem {
  const code =
    status === 413 ? "payload_too_large" : status === 429 ? "rate_limited" : status >= 500 ? "busy" : "unreadable";
  return { type: "about:blank", title: "", status, detail: "", code, request_id: "" };
}

/** `Retry-After` in milliseconds; it is seconds or a date. */
export function retryAfter(value: string | null, now = Date.now()): number | undefined {
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** True when the same call may do better a little later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof NoAnswer) return true;
  return (
    error instanceof ApiError &&
    ["busy", "outcome_unknown", "idempotency_in_progress", "rate_limited"].includes(error.code)
  );
}
