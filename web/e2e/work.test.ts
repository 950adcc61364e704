/** What follows an approval, and the months. */

import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import en from "../messages/en.json";
import { browser, context, dialog, monthsAgo, ORG, Outside, open, plant, program, stage } from "./support";

let outside: Outside;
const watch = stage(async () => {
  outside = await Outside.start();
  return outside.settings;
});
afterAll(() => outside?.stop());

const panel = (page: Page) => page.locator(".processing");

/** An approved request whose outside system was asked, and has not answered yet. */
async function approved(title: string): Promise<string> {
  const isAsked = outside.asked();
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
    .getByText(/in \d+ seconds, unless it gives a sign of life/)
    .waitFor();
  // Only administrators take it away.
  expect(await panel(aiko).getByRole("button").count()).toBe(0);
  outside.answer(200);
  await panel(aiko).getByText("Done").waitFor();
  await panel(aiko).getByText("Result").click();
  await panel(aiko).getByText("PO-4711").waitFor();
});

test("what failed says why, and is started again by a person", async () => {
  const id = await approved("Eleven chairs");
  outside.answer(400);
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/mine/${id}`);
  await panel(aiko).getByText("Failed").waitFor();
  await panel(aiko).getByText("400").waitFor();
  const again = outside.asked();
  await panel(aiko).getByRole("button", { name: "Start again" }).click();
  await again;
  await panel(aiko).getByText("Running").waitFor();
  outside.answer(200);
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
  outside.answer(200);
});

test("months show what is still to come, currency by currency", async () => {
  await program.done("dara", "POST", "/charges", charges(3));
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/months`);
  await aiko.locator(".chart .bar").first().waitFor();
  await aiko.getByRole("heading", { name: en["months.upcoming_total"] }).waitFor();
  // All currencies of all months that are not closed, to the last unit.
  const { upcoming } = await program.done("aiko", "GET", "/statements");
  const totals = upcoming.flatMap((month: { totals: { currency: string; total: string }[] }) => month.totals);
  const yen = totals.reduce(
    (sum: bigint, { currency, total }: { currency: string; total: string }) =>
      currency === "JPY" ? sum + BigInt(total) : sum,
    0n,
  );
  await aiko
    .locator(".tool")
    .first()
    .getByText(`¥${yen.toLocaleString("en")}`)
    .waitFor();
  await aiko.getByText(en["months.upcoming"], { exact: true }).first().waitFor();
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

test("while a month is being closed its bar says how far it is, and who is at it", async () => {
  const period = monthsAgo(4);
  const ids = Array.from({ length: 400 }, (_, n) => `0197c0de-0000-7000-9100-${String(n).padStart(12, "0")}`);
  const rows = ids.map((id) => ({ id, occurred_at: `${period}-10T03:00:00Z`, amount: 100, currency: "NOK" }));
  await program.done("dara", "POST", "/charges", rows);
  const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/months/${period}`);
  // The last of them can't be had for a moment.
  const letGo = await program.hold(`SELECT FROM charge WHERE id = '${ids.at(-1)}' FOR UPDATE`);
  await dara.getByRole("button", { name: "Close the month" }).click();
  await dialog(dara).getByText("400 charges are to be confirmed").waitFor();
  await dialog(dara).getByRole("button", { name: "Close the month" }).click();
  const bar = dara.getByRole("progressbar");
  await bar.waitFor();
  await dara.getByText(/^\d+ of 400 confirmed$/).waitFor();
  await dara.locator(".running").getByText("Worked on by").waitFor();
  expect(Number(await bar.getAttribute("aria-valuemax"))).toBe(400);
  letGo();
  await dara.locator(".view-head .badge", { hasText: "Closed" }).waitFor();
});

test("a row that stands in the way is named, moved away with a reason, or corrected", async () => {
  const period = monthsAgo(5);
  const [moved = "", corrected = "", raced = ""] = [1, 2, 3].map((n) => `0197c0de-0000-7000-a000-00000000c00${n}`);
  for (const id of [moved, corrected, raced]) plant(program, period, id);
  const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/months/${period}`);
  const close = async (button: string) => {
    await dara.getByRole("button", { name: button }).click();
    await dialog(dara).getByRole("button", { name: "Close the month" }).click();
    await dialog(dara).waitFor({ state: "detached" });
  };
  await close("Close the month");
  await dara.getByText("3 rows stand in the way").waitFor();
  const row = (id: string) => dara.locator("tr", { hasText: id });
  await row(moved).getByText("It takes back a charge that is not confirmed").waitFor();

  await row(moved).getByRole("button", { name: "Move to the next open month" }).click();
  await dialog(dara).getByText("Returned lamp").waitFor();
  await dialog(dara).getByRole("button", { name: "Move it" }).click();
  await dialog(dara).getByText("Please fill this in").waitFor();
  await dialog(dara).getByLabel("Reason").fill("The supplier will send it again.");
  await dialog(dara).getByRole("button", { name: "Move it" }).click();
  await dialog(dara).waitFor({ state: "detached" });
  await dara.getByText("2 rows stand in the way").waitFor();
  expect(await row(moved).count()).toBe(0);

  await row(corrected).getByRole("button", { name: "Correct it" }).click();
  await dialog(dara).getByText("-SEK 40.00").waitFor();
  await dialog(dara).getByLabel("Amount").fill("fifty");
  await dialog(dara).getByRole("button", { name: "Save the correction" }).click();
  await dialog(dara).locator(".field.has-problem", { hasText: "Write a number" }).waitFor();
  // What the server refuses is told beside its field as well.
  await dialog(dara).getByLabel("Amount").fill("-49");
  await dialog(dara).getByRole("button", { name: "Save the correction" }).click();
  await dialog(dara).locator(".field.has-problem", { hasText: "exact opposite" }).waitFor();
  await dialog(dara).getByLabel("Amount").fill("-50");
  await dialog(dara).getByRole("button", { name: "Save the correction" }).click();
  await dialog(dara).waitFor({ state: "detached" });
  expect(await program.done("dara", "GET", `/charges/${corrected}`)).toMatchObject({ amount: -5_000, version: 2 });

  // Another administrator corrects the last one meanwhile: it is said, and what was typed stays.
  await row(raced).getByRole("button", { name: "Correct it" }).click();
  await dialog(dara).getByLabel("Amount").fill("-51");
  const { occurred_at, currency, version } = await program.done("dara", "GET", `/charges/${raced}`);
  const theirs = { occurred_at, currency, version, amount: -5_000, description: "Returned lamp, by another" };
  await program.done("dara", "PUT", `/charges/${raced}`, theirs);
  await dialog(dara).getByRole("button", { name: "Save the correction" }).click();
  await dialog(dara).getByText("Somebody changed this charge since you looked").waitFor();
  await dialog(dara).getByText("Returned lamp, by another").waitFor();
  expect(await dialog(dara).getByLabel("Amount").inputValue()).toBe("-51");
  await dialog(dara).getByRole("button", { name: "Cancel" }).click();

  await close("Try to close it again");
  await dara.locator(".view-head .badge", { hasText: "Closed" }).waitFor();
});
