/** The real program on a PostgreSQL of its own, a real browser, and people who use it. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
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
    const base = join(ROOT, "target/e2e");
    mkdirSync(base, { recursive: true });
    // In memory where there is room: nothing of it is kept.
    const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ringi-e2e-"));
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

/** What must never happen on any page, collected from all of them. */
export class Watch {
  readonly found: string[] = [];

  on(page: Page): void {
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

/** Opens the page as a person of the demo, who clicks on his name. */
export async function open(
  program: Program,
  context: BrowserContext,
  who: Who,
  watch: Watch,
  path = "/",
): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  watch.on(page);
  await page.goto(program.address + path);
  await page.getByRole("button", { name: PEOPLE[who].name }).click();
  await page.locator(".frame").waitFor();
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
export function stage(): Watch {
  const watch = new Watch();
  beforeAll(async () => {
    [program, browser] = await Promise.all([Program.start(), launch()]);
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
