/** The lists, and the form: what narrows them stands in the address, no length is too long, and each fault is told beside its field. */

import { expect, test } from "vitest";
import en from "../messages/en.json";
import { browser, context, ORG, open, program, row, stage } from "./support";

const watch = stage();

test("what narrows a list stands in the address: kept, sent around, gone back to", async () => {
  const ben = await open(program, await context(browser), "ben", watch, `/o/${ORG}/all?status=rejected`);
  await row(ben, "First-class flight").waitFor();
  expect(new Set(await ben.locator(".row .badge").allTextContents())).toEqual(new Set(["Rejected"]));
  await ben.getByLabel("Status").selectOption("approved");
  await row(ben, "Replacement laptop").waitFor();
  expect(new URL(ben.url()).searchParams.get("status")).toBe("approved");
  await ben.getByRole("searchbox").fill("laptop");
  await ben.waitForURL(/q=laptop/);
  await expect.poll(() => ben.locator(".row").count()).toBe(1);
  await ben.reload();
  await row(ben, "Replacement laptop").waitFor();
  expect(await ben.getByRole("searchbox").inputValue()).toBe("laptop");
  expect(await ben.locator(".row").count()).toBe(1);
  // The request that is opened keeps the list as it is, and so does the way back.
  await row(ben, "Replacement laptop").click();
  await ben.getByRole("heading", { level: 1, name: "Replacement laptop" }).waitFor();
  expect(new URL(ben.url()).search).toContain("q=laptop");
  await ben.goBack();
  expect(await ben.getByRole("searchbox").inputValue()).toBe("laptop");
  // What nobody can mean is left out, not sent.
  await ben.goto(`${program.address}/o/${ORG}/all?status=nonsense`);
  await row(ben, "First-class flight").waitFor();
});

test("a list of any length is walked to its end, and only what is in sight is in the document", async () => {
  for (let n = 0; n < 420; n += 1) await program.submitted("aiko", `Long list ${n}`);
  const ben = await open(program, await context(browser), "ben", watch, `/o/${ORG}/inbox?q=long+list`);
  await row(ben, "Long list 419").waitFor();
  const list = ben.getByTestId("list");
  await expect
    .poll(
      async () => {
        await list.evaluate((element) => element.scrollTo(0, element.scrollHeight));
        return row(ben, "Long list 0").count();
      },
      { timeout: 20_000 },
    )
    .toBe(1);
  expect(await ben.locator(".row").count()).toBeLessThan(60);
  // 420 rows of 76 pixels; seven pages were let go on the way, and come back on the way up.
  expect(await list.evaluate((element) => element.scrollHeight)).toBe(420 * 76);
  await list.evaluate((element) => element.scrollTo(0, 0));
  await row(ben, "Long list 419").waitFor();
});

test("what is wrong with a request is said beside its field, by the server's own limits", async () => {
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/write`);
  const told = (text: string) => aiko.locator(".field.has-problem", { hasText: text }).waitFor();
  const title = aiko.getByLabel("Title", { exact: true });
  await aiko.getByRole("button", { name: "Submit" }).click();
  await told(en["rule.required"]);
  expect(await title.evaluate((element) => element === document.activeElement)).toBe(true);
  // 200 characters, though 400 of what JavaScript counts.
  await title.fill("👍".repeat(200));
  await aiko.getByText("200 of 200 characters").waitFor();
  expect(await aiko.locator(".field.has-problem").count()).toBe(0);
  await title.fill("👍".repeat(201));
  await told("At most 200 characters");
  await title.fill("\u200b \u3000");
  await told(en["rule.blank"]);
  await title.fill("A desk");
  await aiko.getByLabel("Currency").selectOption("JPY");
  await aiko.getByLabel("Amount").fill("10.5");
  await aiko.getByLabel("Description").fill("x".repeat(10_001));
  await told("JPY has no decimals");
  await told("At most 10,000 characters");
  await aiko.getByLabel("Amount").fill("１２，０００");
  await aiko.getByText("¥12,000").waitFor();
  await aiko.getByLabel("Description").fill("x".repeat(10_000));
  // What only the server knows is told in the same place.
  await aiko.route("**/requests", (route) =>
    route.fulfill({
      status: 422,
      contentType: "application/problem+json",
      body: JSON.stringify({
        code: "validation_failed",
        status: 422,
        detail: "",
        errors: [{ pointer: "/currency", code: "currency_unknown", detail: "" }],
      }),
    }),
  );
  await aiko.getByRole("button", { name: "Submit" }).click();
  await told(en["rule.currency_unknown"]);
  await aiko.unroute("**/requests");
  await aiko.getByRole("button", { name: "Submit" }).click();
  await aiko.getByRole("heading", { level: 1, name: "A desk" }).waitFor();
});
