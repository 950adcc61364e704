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
