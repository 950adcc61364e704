/** Both languages, a phone, and axe on every view in both themes. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { WEBHOOKS } from "./receiver";
import { browser, context, Outside, open, program, row, stage, still } from "./support";
import { VIEWS } from "./views";

// It never answers, so that what follows an approval is seen while it runs.
let outside: Outside;
const watch = stage(async () => {
  outside = await Outside.start();
  return { ...outside.settings, ...WEBHOOKS };
});
afterAll(() => outside?.stop());
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds by the rules of WCAG 2.2 AA and by its own best practices. */
async function faults(page: Page): Promise<string[]> {
  // What fades in is judged when it is there.
  await still(page);
  await page.evaluate(axe);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe comes as a script
    const { violations } = await (globalThis as any).axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    });
    const all = violations as { id: string; nodes: { html: string; any: { message: string }[] }[] }[];
    return all.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ""}`));
  });
}

test("axe finds nothing: on every view, light, dark, and as narrow as a phone", { timeout: 600_000 }, async () => {
  const found: Record<string, string[]> = {};
  for (const view of VIEWS) {
    const page = await view.show(program, await context(browser), watch, "en");
    for (const look of ["light", "dark", "phone"] as const) {
      if (look === "phone") await page.setViewportSize({ width: 390, height: 844 });
      else await page.emulateMedia({ colorScheme: look });
      const faulty = await faults(page);
      if (faulty.length > 0) found[`${view.name}, ${look}`] = faulty;
    }
    await page.context().close();
  }
  expect(found).toEqual({});
});

test("in Japanese, on a phone: a decision from the first look to the last word", async () => {
  await program.submitted("aiko", "名古屋出張", { amount: 24800, currency: "JPY" });
  const ben = await open(program, await context(browser, { language: "ja", phone: true }), "ben", watch);
  expect(await ben.evaluate(() => document.documentElement.lang)).toBe("ja");
  await ben.getByRole("heading", { level: 1, name: "受信箱" }).waitFor();
  await row(ben, "名古屋出張").click();
  await ben.getByText("￥24,800").last().waitFor();
  await ben.getByRole("button", { name: "差し戻し" }).click();
  await ben.locator(".dialog").getByLabel("理由").fill("日程を教えてください。");
  await ben.locator(".dialog").getByRole("button", { name: "差し戻し" }).click();
  await ben.locator(".dialog").waitFor({ state: "detached" });
  await ben.locator(".event-head", { hasText: "Ben Okaforさんが差し戻し" }).waitFor();
  // The language is the person's own, and stays.
  await ben.getByRole("link", { name: "戻る" }).click();
  await ben.locator(".person-menu").click();
  await ben.getByRole("menuitemradio", { name: "English" }).click();
  await ben.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await ben.getByRole("menuitemradio", { name: "Dark" }).click();
  await ben.reload();
  await ben.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  expect(await ben.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
});

test("keys can be turned off, for who speaks to his machine", async () => {
  const ben = await open(program, await context(browser), "ben", watch);
  await ben.locator(".person-menu").click();
  await ben.getByRole("menuitemradio", { name: "Off" }).click();
  await ben.keyboard.press("Escape");
  await ben.locator(".menu").waitFor({ state: "detached" });
  await ben.keyboard.press("?");
  await ben.keyboard.press("n");
  expect(await ben.locator(".dialog").count()).toBe(0);
  expect(new URL(ben.url()).pathname).toMatch(/\/inbox$/);
});
