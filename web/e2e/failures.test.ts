import type { Page, Route } from "playwright-core";
import { describe, expect, test } from "vitest";
import en from "../messages/en.json";
import { browser, context, deaf, dialog, ORG, open, program, row, stage, status } from "./support";

const watch = stage();

/** Ben, about to send a reason for a request that waits for him. */
async function aboutToReject(title: string): Promise<{ page: Page; id: string }> {
  const request = await program.submitted("aiko", title);
  const page = await open(program, await context(browser), "ben", watch, `/o/${ORG}/inbox/${request.id}`);
  await page.getByRole("button", { name: "Reject" }).click();
  await dialog(page).getByLabel("Reason").fill("A long and careful reason.");
  return { page, id: request.id };
}

const problem =
  (status: number, code: string, more: object = {}) =>
  (route: Route) =>
    route.fulfill({
      status,
      contentType: "application/problem+json",
      headers: { "Retry-After": "0", "X-Request-Id": "req-1" },
      body: JSON.stringify({ type: "", title: "", status, detail: "", code, request_id: "req-1", ...more }),
    });

describe("each failure is told where it happened, and takes no input away", () => {
  test("from 403 to 503, one after the other, in one dialog", async () => {
    const { page, id } = await aboutToReject("Every failure");
    const reject = `**/requests/${id}/reject`;
    const cases: [number, keyof typeof en][] = [
      [403, "problem.forbidden"],
      [403, "problem.self_approval_forbidden"],
      [403, "problem.not_a_member"],
      [404, "problem.not_found"],
      [413, "problem.payload_too_large"],
      [422, "problem.idempotency_key_reused"],
      [429, "problem.rate_limited"],
      [500, "problem.internal"],
      [503, "problem.busy"],
      [503, "problem.outcome_unknown"],
    ];
    for (const [code, key] of cases) {
      await page.route(reject, problem(code, key.replace("problem.", "")));
      await dialog(page).getByRole("button", { name: "Reject" }).click();
      await dialog(page).getByText(en[key]).waitFor();
      expect(await dialog(page).getByLabel("Reason").inputValue()).toBe("A long and careful reason.");
      await page.unroute(reject);
    }
    // A rule of a field is told beside the field.
    await page.route(
      reject,
      problem(422, "validation_failed", { errors: [{ pointer: "/reason", code: "length", detail: "" }] }),
    );
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await dialog(page).locator(".field.has-problem", { hasText: "At most 2,000 characters" }).waitFor();
    await page.unroute(reject);
    // A proxy's page is no answer of ours.
    await page.route(reject, (route) =>
      route.fulfill({ status: 418, body: "<h1>teapot</h1>", contentType: "text/html" }),
    );
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await dialog(page).getByText(en["problem.unreadable"]).waitFor();
    await page.unroute(reject);
    // And then it works.
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await dialog(page).waitFor({ state: "detached" });
    expect(await status(page).textContent()).toBe("Rejected");
  });

  test("a list that can't be read says so, and is read again", async () => {
    const page = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/mine`);
    await page.route("**/requests?*", problem(500, "internal"));
    await page.getByRole("link", { name: "All requests" }).click();
    await page.getByText(en["problem.internal"]).waitFor();
    await page.getByText("req-1").waitFor();
    await page.unroute("**/requests?*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".row").first().waitFor();
  });

  test("an address that leads nowhere is told", async () => {
    const page = await open(
      program,
      await context(browser),
      "aiko",
      watch,
      `/o/${ORG}/all/0197c0de-0000-7000-8000-0000000000ff`,
    );
    await page.getByText(en["problem.not_found"]).waitFor();
    await page.goto(`${program.address}/o/${ORG}/nowhere`);
    await page.getByText("Nothing here").waitFor();
  });
});

describe("nothing is done twice", () => {
  test("a double click decides once", async () => {
    const { page, id } = await aboutToReject("Double click");
    let calls = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/reject")) calls += 1;
    });
    await dialog(page).getByRole("button", { name: "Reject" }).dblclick();
    await dialog(page).waitFor({ state: "detached" });
    expect(calls).toBe(1);
    expect(await program.done("ben", "GET", `/requests/${id}`)).toMatchObject({ version: 3, status: "rejected" });
  });

  test("an answer that is lost on its way back is asked for again, under the same key", async () => {
    const { page, id } = await aboutToReject("Lost answer");
    const keys: (string | undefined)[] = [];
    await page.route(`**/requests/${id}/reject`, async (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort("connectionreset");
    });
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await dialog(page).waitFor({ state: "detached" });
    expect(await status(page).textContent()).toBe("Rejected");
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBeTruthy();
    expect(keys[1]).toBe(keys[0]);
    const history = await program.done("ben", "GET", `/requests/${id}/history`);
    expect(history.items.map((entry: { action: string }) => entry.action)).toEqual(["create", "submit", "reject"]);
  });

  test("without a network it waits, and is done once when that is back", async () => {
    const { page, id } = await aboutToReject("Offline");
    await page.context().setOffline(true);
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    await dialog(page).getByText(en["sending.offline"]).waitFor();
    await page.getByText(en.offline).waitFor();
    expect(await dialog(page).getByLabel("Reason").inputValue()).toBe("A long and careful reason.");
    await page.context().setOffline(false);
    await dialog(page).waitFor({ state: "detached" });
    expect(await status(page).textContent()).toBe("Rejected");
    await page.getByText(en.offline).waitFor({ state: "detached" });
    expect(await program.done("ben", "GET", `/requests/${id}`)).toMatchObject({ version: 3 });
  });
});

describe("a sign-in that ran out", () => {
  test("asks again over the page, and what was sent is sent once more under its key", async () => {
    const { page, id } = await aboutToReject("Expired");
    const keys: (string | undefined)[] = [];
    await page.route(`**/requests/${id}/reject`, (route) => {
      keys.push(route.request().headers()["idempotency-key"]);
      return keys.length === 1 ? problem(401, "unauthenticated")(route) : route.continue();
    });
    // The silent renewal does not work either.
    await page.route("**/api/v1/sign-in/demo", (route) => route.abort());
    await dialog(page).getByRole("button", { name: "Reject" }).click();
    const again = page.locator(".dialog", { hasText: "Sign in again" });
    await again.waitFor();
    // Only the same person can go on here.
    expect(await again.locator(".person-name").allTextContents()).toEqual(["Ben Okafor"]);
    await page.unroute("**/api/v1/sign-in/demo");
    await again.getByRole("button", { name: "Ben Okafor" }).click();
    await again.waitFor({ state: "detached" });
    await dialog(page).waitFor({ state: "detached" });
    expect(await status(page).textContent()).toBe("Rejected");
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
  });

  test("a pasted token that is wrong is told, and one of another person begins anew", async () => {
    const page = await (await context(browser)).newPage();
    watch.on(page);
    await page.goto(program.address);
    await page.getByText("Sign in with a token").click();
    await page.getByLabel("Access token").fill("not.a.token");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText(en["problem.unauthenticated"]).waitFor();
    expect(await page.getByLabel("Access token").inputValue()).toBe("");
    await page.getByLabel("Access token").fill(await program.token("0197c0de-0000-7000-8000-000000000101"));
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.locator(".person-menu-name", { hasText: "Aiko Tanaka" }).waitFor();
    // The token is nowhere but in memory.
    const stored = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie]),
    );
    expect(stored).not.toContain("eyJ");
    await page.reload();
    await page.getByText("Look around as somebody of the demo").waitFor();
  });
});

describe("what people write is text", () => {
  const EVIL = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script> {{name}} $& "'\``;

  test("markup and scripts in titles, reasons and names are shown, not done", async () => {
    const request = await program.submitted("aiko", EVIL, { description: `${EVIL}\n<svg onload=window.hurt=1>` });
    const admin = await program.done("dara", "GET", "/members/0197c0de-0000-7000-8000-000000000103");
    const { user_id: _, ...chie } = admin;
    await program.done("dara", "PUT", "/members/0197c0de-0000-7000-8000-000000000103", { ...chie, display_name: EVIL });
    const ben = await open(program, await deaf(context(browser)), "ben", watch, `/o/${ORG}/inbox`);
    await row(ben, "<img src=x").first().click();
    expect(await ben.locator("#request-title").textContent()).toBe(EVIL);
    expect(await ben.locator(".description").textContent()).toContain("<svg onload=");
    await ben.getByRole("button", { name: "Send back" }).click();
    await program.done("chie", "POST", `/requests/${request.id}/reject`, { version: 2, reason: EVIL });
    await dialog(ben).getByLabel("Reason").fill(EVIL);
    await dialog(ben).getByRole("button", { name: "Send back" }).click();
    await dialog(ben).getByText(`${EVIL} rejected it after you looked`).waitFor();
    await dialog(ben).getByRole("button", { name: "Look at it again" }).click();
    await ben.locator("blockquote", { hasText: "<script>" }).waitFor();
    expect(await ben.evaluate(() => (window as { hurt?: number }).hurt)).toBeUndefined();
    await program.done("dara", "PUT", "/members/0197c0de-0000-7000-8000-000000000103", {
      ...chie,
      version: chie.version + 1,
      display_name: "Chie Sato 佐藤千恵",
    });
  });

  test("right to left, and as long as it may be, on a desktop and a phone", async () => {
    const long = await program.submitted("aiko", "م".repeat(120) + "W".repeat(80), {
      description: "x".repeat(9_000) + "\n".repeat(500) + "ل".repeat(500),
      amount: 9007199254740991,
      currency: "JPY",
    });
    for (const phone of [false, true]) {
      const ben = await open(program, await context(browser, { phone }), "ben", watch, `/o/${ORG}/inbox/${long.id}`);
      await ben.locator("#request-title").waitFor();
      const wider = () =>
        ben.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      const pane = () =>
        ben.evaluate(() => {
          const pane = document.querySelector(".detail-pane");
          return pane ? pane.scrollWidth - pane.clientWidth : -1;
        });
      expect([await wider(), await pane()]).toEqual([0, 0]);
      await ben.getByRole("button", { name: "Send back" }).click();
      await dialog(ben)
        .getByLabel("Reason")
        .fill(`${"ש".repeat(1999)}👍`);
      await dialog(ben).getByText("2,000 of 2,000 characters").waitFor();
      expect(await wider()).toBe(0);
      await dialog(ben).getByLabel("Reason").fill("x".repeat(2001));
      await dialog(ben).getByText("At most 2,000 characters").waitFor();
    }
  });
});

test("back and forward keep the place in the list", async () => {
  for (let n = 0; n < 30; n += 1) await program.submitted("aiko", `Place ${n}`);
  const ben = await open(program, await context(browser, { phone: true }), "ben", watch, `/o/${ORG}/inbox`);
  await row(ben, "Place 29").waitFor();
  const list = ben.getByTestId("list");
  await list.evaluate((element) => element.scrollTo(0, 900));
  await row(ben, "Place 15").click();
  await ben.getByRole("heading", { level: 1, name: "Place 15" }).waitFor();
  await ben.goBack();
  await row(ben, "Place 15").waitFor();
  expect(await list.evaluate((element) => element.scrollTop)).toBe(900);
  await ben.goForward();
  await ben.getByRole("heading", { level: 1, name: "Place 15" }).waitFor();
});
