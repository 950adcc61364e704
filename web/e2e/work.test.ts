/** What follows an approval, and the months. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { context, launch, ORG, open, Program, Watch } from "./support";

let program: Program;
let browser: Browser;
let outside: Server;
/** Lets the outside system answer what it was asked, with this status. */
let answer: ((status: number) => void) | undefined;
let asked: (() => void) | undefined;
const watch = new Watch();

beforeAll(async () => {
  outside = createServer((request, response) => {
    request.resume();
    answer = (status) => response.writeHead(status, { "Content-Type": "application/json" }).end('{"order": "PO-4711"}');
    asked?.();
  });
  await new Promise<void>((listening) => outside.listen(0, "127.0.0.1", listening));
  const { port } = outside.address() as AddressInfo;
  [program, browser] = await Promise.all([
    Program.start({
      RINGI__PROCESSING__CONNECTOR_URL: `http://127.0.0.1:${port}/orders`,
      RINGI__PROCESSING__MAX_ATTEMPTS: "1",
    }),
    launch(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await program?.stop();
  outside?.closeAllConnections();
  outside?.close();
});
afterEach(async () => {
  watch.expectNothing();
  for (const one of browser.contexts()) await one.close();
});

const panel = (page: Page) => page.locator(".processing");

/** An approved request whose outside system was asked, and has not answered yet. */
async function approved(title: string): Promise<string> {
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const request = await program.submitted("aiko", title, { amount: 12_000, currency: "JPY" });
  await program.done("ben", "POST", `/requests/${request.id}/approve`, { version: 2 });
  await isAsked;
  return request.id;
}

/** Charges of the last three months, in two currencies. */
function charges(each: number) {
  return [0, 1, 2].flatMap((ago) =>
    Array.from({ length: each }, (_, n) => ({
      id: `0197c0de-0000-7000-8000-00000${ago}${String(n).padStart(6, "0")}`,
      occurred_at: new Date(Date.now() - ago * 31 * 86_400_000).toISOString(),
      amount: 10_000 * (n + 1),
      currency: n % 3 === 2 ? "USD" : "JPY",
      description: `Charge ${ago}/${n}`,
    })),
  );
}

test("what follows an approval is seen while it runs, and when it is done", async () => {
  const id = await approved("Ten chairs");
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/mine/${id}`);
  await panel(aiko).getByText("Running").waitFor();
  await panel(aiko)
    .getByText(/in \d+ seconds, unless it is heard of/)
    .waitFor();
  // Only administrators take it away.
  expect(await panel(aiko).getByRole("button").count()).toBe(0);
  answer?.(200);
  await panel(aiko).getByText("Done").waitFor();
  await panel(aiko).getByText("Result").click();
  await panel(aiko).getByText("PO-4711").waitFor();
});

test("what failed says why, and is started again by a person", async () => {
  const id = await approved("Eleven chairs");
  answer?.(400);
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/mine/${id}`);
  await panel(aiko).getByText("Failed").waitFor();
  await panel(aiko).getByText("400").waitFor();
  const again = new Promise<void>((resolve) => {
    asked = resolve;
  });
  await panel(aiko).getByRole("button", { name: "Start again" }).click();
  await again;
  await panel(aiko).getByText("Running").waitFor();
  answer?.(200);
  await panel(aiko).getByText("Done").waitFor();
});

test("an administrator takes it away, after asking himself twice", async () => {
  const id = await approved("Twelve chairs");
  const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/all/${id}`);
  await panel(dara).getByRole("button", { name: "Take it away" }).click();
  await panel(dara).getByRole("button", { name: "Really take it away?" }).click();
  await panel(dara).getByText("Failed").waitFor();
  await panel(dara)
    .getByText(/cancelled by Dara/i)
    .waitFor();
  answer?.(200);
});

test("months show what is still to come, currency by currency", async () => {
  await program.done("dara", "POST", "/charges", charges(3));
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/months`);
  await aiko.locator(".chart .bar").first().waitFor();
  await aiko.getByText("Upcoming").first().waitFor();
  await aiko.locator("tbody th a").first().click();
  await aiko.getByText("So far").waitFor();
  // Who is no administrator closes nothing.
  expect(await aiko.getByRole("button", { name: "Close the month" }).count()).toBe(0);
});

/** Last month, as the organization's clocks have it. */
function lastMonth(): string {
  const now = new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Tokyo", year: "numeric", month: "2-digit" }).format(
    new Date(),
  );
  const [year = 0, month = 0] = now.split("-").map(Number);
  return month === 1 ? `${year - 1}-12` : `${year}-${String(month - 1).padStart(2, "0")}`;
}

test("an administrator closes a month, and everybody sees it closed", async () => {
  const period = lastMonth();
  const rows = Array.from({ length: 500 }, (_, n) => ({
    id: `0197c0de-0000-7000-9000-${String(n).padStart(12, "0")}`,
    occurred_at: `${period}-10T03:00:00Z`,
    amount: 100,
    currency: "GBP",
    description: n === 0 ? "=1+1" : null,
  }));
  await program.done("dara", "POST", "/charges", rows);
  const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/months/${period}`);
  await dara.getByRole("button", { name: "Close the month" }).click();
  await dara.locator(".dialog").getByText("A closed month is never opened again.").waitFor();
  await dara.locator(".dialog").getByRole("button", { name: "Close the month" }).click();
  await dara.locator(".dialog").waitFor({ state: "detached" });
  await dara.locator(".view-head .badge", { hasText: "Closed" }).waitFor();
  await dara.getByText("£500.00").waitFor();
  const downloading = dara.waitForEvent("download");
  await dara.getByRole("button", { name: "CSV" }).click();
  const file = await (await downloading).createReadStream();
  let text = "";
  for await (const piece of file) text += piece;
  expect(text.split("\r\n").filter((line) => line.includes(",GBP,"))).toHaveLength(500);
  expect(text).toContain("'=1+1");

  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/months`);
  await aiko.locator("tr", { hasText: "Closed" }).first().waitFor();
  // A month that is not over is not closed, and the page says when it can be.
  const current = new Date(Date.now() + 9 * 3_600_000).toISOString().slice(0, 7);
  await dara.goto(`${program.address}/o/${ORG}/months/${current}`);
  await dara.getByRole("button", { name: "Close the month" }).click();
  await dara.locator(".dialog").getByRole("button", { name: "Close the month" }).click();
  await dara.locator(".dialog").getByText("This month is not over yet.").waitFor();
});

test("a row that stands in the way is named, and moved away with a reason", async () => {
  const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/months`);
  const row = {
    charge_id: "0197c0de-0000-7000-8000-00000000c001",
    code: "reversal_invalid",
    detail: "What it reverses is not confirmed.",
  };
  const closing = {
    period: "2026-01",
    state: "blocked",
    total: 10,
    confirmed: 9,
    blocked: [row],
    blocked_count: 1,
    rows_per_second: 0,
    seconds_left: null,
    holder: null,
    started_at: null,
    heartbeat_at: null,
    finished_at: "2026-02-01T00:00:00Z",
    warnings: [],
  };
  const sent: unknown[] = [];
  await dara.route("**/closings/2026-01", (route) => route.fulfill({ json: closing }));
  await dara.route("**/closings/2026-01/exclude", (route) => {
    sent.push(route.request().postDataJSON());
    return route.fulfill({ json: { ...closing, state: "open", blocked: [], blocked_count: 0 } });
  });
  await dara.evaluate((path) => history.pushState(null, "", path), `/o/${ORG}/months/2026-01`);
  await dara.evaluate(() => window.dispatchEvent(new PopStateEvent("popstate")));
  await dara.getByText("1 row stands in the way").waitFor();
  await dara.getByText("It takes back a charge that is not confirmed").waitFor();
  await dara.getByRole("button", { name: "Move to the next open month" }).click();
  await dara.locator(".dialog").getByRole("button", { name: "Move it" }).click();
  await dara.locator(".dialog").getByText("Please fill this in").waitFor();
  await dara.locator(".dialog").getByLabel("Reason").fill("The supplier will send it again.");
  await dara.locator(".dialog").getByRole("button", { name: "Move it" }).click();
  await dara.locator(".dialog").waitFor({ state: "detached" });
  expect(sent).toEqual([{ charge_id: row.charge_id, reason: "The supplier will send it again." }]);
  await dara.getByRole("button", { name: "Close the month" }).waitFor();
});
