/** The real program on a PostgreSQL of its own, a real browser, and people who use it. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContext, chromium, type Locator, type Page, type Request } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";

export const ROOT = resolve(import.meta.dirname, "../..");
const PROGRAM = process.env.RINGI_PROGRAM ?? join(ROOT, "target/debug/ringi");
export const SECRET = "a secret for tests, thirty-two bytes or more";
export const ORG = "0197c0de-0000-7000-8000-000000000001";

/** The people of the demo. */
export const PEOPLE = {
  aiko: { id: "0197c0de-0000-7000-8000-000000000101", name: "Aiko Tanaka" },
  ben: { id: "0197c0de-0000-7000-8000-000000000102", name: "Ben Okafor" },
  chie: { id: "0197c0de-0000-7000-8000-000000000103", name: "Chie Sato 佐藤千恵" },
  dara: { id: "0197c0de-0000-7000-8000-000000000104", name: "Dara Lindqvist" },
} as const;
export type Who = keyof typeof PEOPLE;

/** A running `ringi serve --demo`. */
export class Program {
  private constructor(
    readonly address: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly log: string[],
  ) {}

  static async start(settings: Record<string, string> = {}, arguments_ = ["serve", "--demo"]): Promise<Program> {
    // In memory where there is room: nothing of it is kept.
    const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ringi-e2e-"));
    // Started by root, PostgreSQL runs as somebody else, who must be able to enter: or its files would be elsewhere, and stay.
    chmodSync(folder, 0o755);
    const child = spawn(PROGRAM, arguments_, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env.PATH,
        PORT: "0",
        RINGI__AUTH__HS256_SECRET: SECRET,
        RINGI__DATABASE__EMBEDDED_DIR: join(folder, "postgres"),
        RINGI__DATABASE__EMBEDDED_DURABLE: "false",
        RINGI__LOG__FILTER: "warn",
        RINGI__HTTP__DRAIN_MS: "0",
        // Tests are quicker than people.
        RINGI__LIMITS__USER_PER_S: "0",
        RINGI__LIMITS__ADDRESS_PER_S: "0",
        ...settings,
      },
    });
    const log: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
    const address = await new Promise<string>((found, failed) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        log.push(line);
        const match = /^Ringi is ready: open (http:\/\/[^/]+)/.exec(line);
        if (match?.[1]) found(match[1]);
      });
      child.once("exit", (code) => failed(new Error(`it ended with ${code}: ${log.join("\n")}`)));
    });
    return new Program(address, child, folder, log);
  }

  /** A call outside the page, as this person. */
  async call(
    who: Who | string,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const token = who in PEOPLE ? await this.token(PEOPLE[who as Who].id) : who;
    return fetch(`${this.address}/api/v1${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }

  /** The same, below the demo organization; it must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers is checked by the page's own types
  async done(who: Who, method: string, path: string, body?: unknown): Promise<any> {
    const response = await this.call(who, method, `/organizations/${ORG}${path}`, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /** A request that this person wrote and submitted. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async submitted(who: Who, title: string, more: Record<string, unknown> = {}): Promise<any> {
    const draft = await this.done(who, "POST", "/requests", {
      title,
      description: "",
      amount: null,
      currency: null,
      ...more,
    });
    return this.done(who, "POST", `/requests/${draft.id}/submit`, { version: draft.version });
  }

  /** What only somebody with the database in his hands can do. Answers the rows, as text. */
  sql(statement: string): string {
    const quiet = ["-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1"];
    return execFileSync("psql", [...this.#database(), ...quiet, "-c", statement], { encoding: "utf8" });
  }

  /** The same, in a transaction that stays open, with its locks, until it is let go. */
  async hold(statement: string): Promise<() => void> {
    const session = spawn("psql", [...this.#database(), "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1"]);
    const held = new Promise<void>((resolve) => session.stdout.once("data", () => resolve()));
    session.stdin.write(`BEGIN; ${statement}; SELECT 'held';\n`);
    await held;
    return () => void session.stdin.end("ROLLBACK;\n");
  }

  #database(): string[] {
    const [, , , , socket = ""] = readFileSync(join(this.folder, "postgres/data/postmaster.pid"), "utf8").split("\n");
    return ["-h", socket, "-p", "5432", "-U", "ringi", "-d", "ringi"];
  }

  #tokens = new Map<string, string>();

  async token(userId: string): Promise<string> {
    const known = this.#tokens.get(userId);
    if (known) return known;
    const response = await fetch(`${this.address}/api/v1/sign-in/demo`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ user_id: userId }),
    });
    const { token } = (await response.json()) as { token: string };
    this.#tokens.set(userId, token);
    return token;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async stop(): Promise<void> {
    const ended = new Promise((done) => this.child.once("exit", done));
    this.child.kill("SIGTERM");
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The outside system that is asked after an approval. It answers when, and what, a test says. */
export class Outside {
  #server: Server;
  #asked: (() => void) | undefined;
  #answer: ((status: number) => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      request.resume();
      this.#answer = (status) =>
        response.writeHead(status, { "Content-Type": "application/json" }).end('{"order": "PO-4711"}');
      this.#asked?.();
    });
  }

  static async start(): Promise<Outside> {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return new Outside(server);
  }

  get settings(): Record<string, string> {
    const { port } = this.#server.address() as AddressInfo;
    return {
      RINGI__PROCESSING__CONNECTOR_URL: `http://127.0.0.1:${port}/orders`,
      RINGI__PROCESSING__MAX_ATTEMPTS: "1",
    };
  }

  /** Resolves when it is asked next. */
  asked(): Promise<void> {
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  answer(status: number): void {
    this.#answer?.(status);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export async function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** What each page waits for. */
const pending = new WeakMap<Page, Set<Request>>();
const isStream = (request: Request) => request.url().endsWith("/events");

/** Resolves when nothing is being loaded any more. */
export async function settled(page: Page): Promise<void> {
  const until = Date.now() + 15_000;
  for (let quiet = 0; quiet < 4; quiet += 1) {
    await page.locator(".skeleton").first().waitFor({ state: "detached" });
    const asked = [...(pending.get(page) ?? [])];
    if (asked.length > 0) quiet = -1;
    if (Date.now() > until) throw new Error(`still waiting for ${asked.map((request) => request.url())}`);
    await page.waitForTimeout(50);
  }
}

/** Resolves when nothing moves any more but what never ends. */
export async function still(page: Page): Promise<void> {
  await page.evaluate(() => {
    const ending = document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations !== Infinity);
    return Promise.all(ending.map((one) => one.finished.catch(() => undefined)));
  });
}

/** What must never happen on any page, collected from all of them. */
export class Watch {
  readonly found: string[] = [];

  on(page: Page): void {
    const asked = new Set<Request>();
    pending.set(page, asked);
    // Whoever listens is never done; and of what comes out of a cache no end is told.
    page.on("request", (request) => {
      if (request.resourceType() === "fetch" && !isStream(request)) asked.add(request);
    });
    page.on("requestfinished", (request) => void asked.delete(request));
    page.on("requestfailed", (request) => void asked.delete(request));
    page.on("pageerror", (error) => this.found.push(`error: ${error.message}`));
    page.on("console", (message) => {
      const text = message.text();
      // A refused call is shown by the page; the browser's own line about it is no fault.
      if (message.type() === "error" && !/Failed to load resource|net::ERR/.test(text))
        this.found.push(`console: ${text}`);
    });
    page.on("request", (request) => {
      const { hostname, protocol } = new URL(request.url());
      // What an identity provider's own page asks for is not the page's doing.
      if (new URL(request.frame().url()).hostname === "localhost") return;
      if (/^https?:$/.test(protocol) && hostname !== "127.0.0.1" && hostname !== "localhost")
        this.found.push(`asked ${request.url()}`);
    });
  }

  expectNothing(): void {
    expect(this.found.splice(0)).toEqual([]);
  }
}

export interface Options {
  language?: "en" | "ja";
  theme?: "light" | "dark";
  phone?: boolean;
  size?: { width: number; height: number };
}

/** A browser of a person's own, with nothing in it. */
export async function context(browser: Browser, options: Options = {}): Promise<BrowserContext> {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
  const desktop = { viewport: options.size ?? { width: 1360, height: 850 } };
  return browser.newContext({
    locale: options.language === "ja" ? "ja-JP" : "en-GB",
    colorScheme: options.theme ?? "light",
    timezoneId: "Asia/Tokyo",
    acceptDownloads: true,
    ...(options.phone ? phone : desktop),
  });
}

/** A page of this browser is told of nothing: it acts on what it saw, however old that is. */
export async function deaf(context: BrowserContext | Promise<BrowserContext>): Promise<BrowserContext> {
  await (await context).route("**/events", () => undefined);
  return context;
}

/** Opens the page as a person of the demo, who clicks on his name. */
export async function open(
  program: Program,
  context: BrowserContext,
  who: Who,
  watch: Watch,
  path = "/",
  address = program.address,
): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  watch.on(page);
  await page.goto(address + path);
  await page.getByRole("button", { name: PEOPLE[who].name }).click();
  await page.locator(".frame").waitFor();
  return page;
}

/** A month, `2026-10`, counted back from the present one. */
export function monthsAgo(n: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - n, 15)).toISOString().slice(0, 7);
}

/** A charge as no import makes it, since it takes back another amount than it may: somebody wrote it past the program. */
export function plant(program: Program, period: string, id: string): void {
  const insert = (id: string, amount: number, reverses: string) => `
    INSERT INTO charge (organization_id, id, period, occurred_at, amount, currency, description, reverses, created_by, created_at)
    VALUES ('${ORG}', '${id}', '${period}-01', '${period}-20T00:00:00Z', ${amount}, 'SEK', 'Returned lamp', ${reverses},
            '${PEOPLE.dara.id}', now())
    ON CONFLICT DO NOTHING;`;
  const reversed = id.replace(/-[0-9a-f]{4}-(?=[0-9a-f]{12}$)/, "-b000-");
  program.sql(insert(reversed, 5_000, "NULL") + insert(id, -4_000, `'${reversed}'`));
}

/** The same, and it listens to what others do. */
export async function openLive(...how: Parameters<typeof open>): Promise<Page> {
  const listening = how[1]
    .waitForEvent("page")
    .then((page) => page.waitForResponse((response) => isStream(response.request()) && response.ok()));
  const page = await open(...how);
  await listening;
  return page;
}

/** The row of a request in the list. */
export const row = (page: Page, title: string): Locator => page.locator(".row", { hasText: title });
export const dialog = (page: Page): Locator => page.locator(".dialog");
/** The status of the request that is open. */
export const status = (page: Page): Locator => page.locator(".detail-status .badge");

/** Of the file's tests, from the first of them on: see `stage`. */
export let program: Program;
export let browser: Browser;

/** One program and one browser for the tests of a file, each of which begins without the pages of the one before. */
export function stage(settings: () => Promise<Record<string, string>> = async () => ({})): Watch {
  const watch = new Watch();
  beforeAll(async () => {
    [program, browser] = await Promise.all([Program.start(await settings()), launch()]);
  });
  afterAll(async () => {
    await browser?.close();
    await program?.stop();
  });
  afterEach(async () => {
    watch.expectNothing();
    for (const one of browser.contexts()) await one.close();
  });
  return watch;
}
