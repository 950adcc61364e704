/**
 * Who is signed in at this tab. The token is in this module's memory and nowhere else: not in an address, not in a
 * storage, not in the document. A reload forgets it; what is remembered is how the person signed in, not with what.
 */

import { SignedOut } from "../api/errors";

/** How a token was got, and so how the next one is. */
export type Way = { kind: "demo"; userId: string } | { kind: "provider" } | { kind: "pasted" };

export interface Grant {
  token: string;
  /** When it ends, in milliseconds since 1970; unknown for a token that can't be read. */
  expiresAt?: number;
  refreshToken?: string;
  way: Way;
}

export type State = { phase: "out" } | { phase: "in" | "expired"; way: Way; userId: string };

/** Gets the next token of the same person without asking him, where that is possible. */
type Renew = (grant: Grant) => Promise<Grant | undefined>;

/** How long before its end a token is renewed. */
const BEFORE_END = 60_000;
const WAY = "ringi.way";

class Session {
  #grant: Grant | undefined;
  #userId: string | undefined;
  #state: State = { phase: "out" };
  #listeners = new Set<() => void>();
  #waiting = new Set<{ resolve: () => void; reject: (reason: unknown) => void }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #renewing: Promise<void> | undefined;
  renew: Renew = async () => undefined;

  readonly state = (): State => this.#state;
  readonly token = (): string | undefined => this.#grant?.token;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Begins or goes on with a session of this user. */
  signIn(grant: Grant, userId: string): void {
    this.#grant = grant;
    this.#userId = userId;
    remember(grant.way);
    this.#schedule(grant);
    this.#set({ phase: "in", way: grant.way, userId });
    for (const waiting of this.#waiting) waiting.resolve();
    this.#waiting.clear();
  }

  get userId(): string | undefined {
    return this.#userId;
  }

  signOut(): void {
    clearTimeout(this.#timer);
    this.#grant = undefined;
    this.#userId = undefined;
    remember(undefined);
    this.#set({ phase: "out" });
    for (const waiting of this.#waiting) waiting.reject(new SignedOut("signed out"));
    this.#waiting.clear();
  }

  /**
   * The server refused this token. Resolves when there is another: renewed silently, or because the person signed in
   * again, for which the page asks meanwhile, with everything that was typed still there.
   */
  async renewed(refused: string, signal?: AbortSignal): Promise<void> {
    if (this.#grant && this.#grant.token !== refused) return;
    await this.#renewNow();
    if (this.#grant && this.#grant.token !== refused) return;
    if (!this.#grant) throw new SignedOut("signed out");
    if (this.#state.phase === "in") this.#set({ ...this.#state, phase: "expired" });
    await new Promise<void>((resolve, reject) => {
      const waiting = { resolve, reject };
      this.#waiting.add(waiting);
      signal?.addEventListener("abort", () => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      });
    });
  }

  /** Asks the person, who may want another token. */
  expire(): void {
    if (this.#state.phase === "in") this.#set({ ...this.#state, phase: "expired" });
  }

  #renewNow(): Promise<void> {
    const grant = this.#grant;
    if (!grant) return Promise.resolve();
    this.#renewing ??= this.renew(grant)
      .then((next) => {
        if (next && this.#grant === grant && this.#userId) this.signIn(next, this.#userId);
      })
      .catch(() => undefined)
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  #schedule(grant: Grant): void {
    clearTimeout(this.#timer);
    if (grant.expiresAt === undefined) return;
    const left = grant.expiresAt - Date.now();
    // setTimeout can't wait longer than 2^31 ms, and no token lasts that long.
    const end = grant.expiresAt;
    this.#timer = setTimeout(
      async () => {
        await this.#renewNow();
        if (this.#grant === grant) this.#timer = setTimeout(() => this.expire(), Math.max(0, end - Date.now()));
      },
      Math.max(0, Math.min(left - BEFORE_END, 2 ** 31 - 1)),
    );
  }

  #set(state: State): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}

export const session = new Session();

function remember(way: Way | undefined): void {
  try {
    if (way) sessionStorage.setItem(WAY, JSON.stringify(way));
    else sessionStorage.removeItem(WAY);
  } catch {
    // Then a reload asks again.
  }
}

/** How the person of this tab signed in before a reload. */
export function rememberedWay(): Way | undefined {
  try {
    const text = sessionStorage.getItem(WAY);
    return text ? (JSON.parse(text) as Way) : undefined;
  } catch {
    return undefined;
  }
}

/** When a token ends, as it says itself; only the server judges it. */
export function expiryOf(token: string): number | undefined {
  try {
    const part = token.split(".")[1] ?? "";
    const json = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
    const { exp } = JSON.parse(json) as { exp?: unknown };
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
