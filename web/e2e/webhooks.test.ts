/** Programs that are told of events: everything that an administrator does about them. */

import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import en from "../messages/en.json";
import { Receiver, WEBHOOKS } from "./receiver";
import { browser, context, dialog, ORG, open, program, stage } from "./support";

const watch = stage(async () => WEBHOOKS);

let receiver: Receiver;
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  receiver.stop();
  for (const { id, version } of (await program.done("dara", "GET", "/webhooks")).items)
    await program.done("dara", "DELETE", `/webhooks/${id}?version=${version}`);
});

/** A webhook as the API makes it, and its view. */
async function made(event_types: string[] = []): Promise<{ page: Page; id: string; secret: string }> {
  const { id, secret } = await program.done("dara", "POST", "/webhooks", { url: receiver.url, event_types });
  const page = await open(program, await context(browser), "dara", watch, `/o/${ORG}/webhooks/${id}`);
  await page.getByRole("heading", { level: 1, name: receiver.url }).waitFor();
  return { page, id, secret };
}

const log = (page: Page) => page.locator(".log tbody tr");
const state = (page: Page) => page.locator(".view-head .badge");

test("a new one: what is wrong is said beside the address, and the secret is shown once", async () => {
  const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/webhooks`);
  await dara.getByText("No program is told yet").waitFor();
  await dara.getByRole("button", { name: "New webhook" }).click();
  const make = dialog(dara).getByRole("button", { name: "Make the webhook" });
  const told = (text: string) => dialog(dara).locator(".field.has-problem", { hasText: text }).waitFor();
  await make.click();
  await told(en["rule.required"]);
  for (const [url, rule] of [
    ["ftp://files.example/x", "rule.url_invalid"],
    ["http://10.0.0.1/", "rule.address_private"],
    ["https://nobody.invalid/", "rule.name_unknown"],
  ] as const) {
    await dialog(dara).getByLabel("Address").fill(url);
    await make.click();
    await told(en[rule]);
    expect(await dialog(dara).getByLabel("Address").inputValue()).toBe(url);
  }
  await dialog(dara).getByLabel("Address").fill(receiver.url);
  await make.click();
  const secret = await dialog(dara).getByLabel("Secret that signs").inputValue();
  expect(secret).toMatch(/^whsec_/);
  await dialog(dara).getByRole("button", { name: "Done" }).click();
  expect(await dara.content()).not.toContain(secret);

  await program.submitted("aiko", "Told to a program");
  await expect.poll(() => receiver.got.map((one) => one.type)).toContain("request.submit");
  for (const one of receiver.got) expect(Receiver.signed(one, secret)).toBe(true);
  await dara.getByRole("link", { name: receiver.url }).click();
  await log(dara).filter({ hasText: "Submitted" }).getByText("Delivered").first().waitFor();
  await dara.getByText(/^up to event (\d+) of \1$/).waitFor();
  await log(dara).first().getByText("Details").click();
  await log(dara).first().getByText("thanks").waitFor();
  expect(await dara.content()).not.toContain(secret);
});

test("it is told of what it wants, and no event at all can't be wanted", async () => {
  const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/webhooks`);
  await dara.getByRole("button", { name: "New webhook" }).click();
  await dialog(dara).getByLabel("Address").fill(receiver.url);
  await dialog(dara).getByLabel("Only these").check();
  await dialog(dara).getByRole("button", { name: "Make the webhook" }).click();
  await dialog(dara).getByText(en["webhook.no_event"]).waitFor();
  await dialog(dara).getByRole("group", { name: "Requests" }).getByLabel("Approved").check();
  await dialog(dara).getByRole("button", { name: "Make the webhook" }).click();
  await dialog(dara).getByRole("button", { name: "Done" }).click();
  await dara.getByText("1 kind of event").waitFor();
  const request = await program.submitted("aiko", "Only its approval");
  await program.done("ben", "POST", `/requests/${request.id}/approve`, { version: 2 });
  await expect.poll(() => receiver.got.map((one) => one.type)).toEqual(["request.approve"]);
});

test("one that fails says why and since when, and is tried at once when somebody wants it", async () => {
  const { page } = await made();
  receiver.status = 500;
  await program.submitted("aiko", "Refused by the program");
  await page.getByText(en["trouble.retried"]).waitFor();
  expect(await state(page).textContent()).toBe("Trying again");
  await log(page).filter({ hasText: "Failed" }).first().getByText("Details").click();
  await log(page).filter({ hasText: "Failed" }).first().getByText("broken").waitFor();
  receiver.status = 200;
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText(en["trouble.retried"]).waitFor({ state: "detached" });
  expect(await state(page).textContent()).toBe("Enabled");
});

test("one that was given up, and one that wants nothing any more, go on when they are enabled", async () => {
  const { page, id } = await made();
  // Days of failures, as the database has them.
  program.sql(
    `UPDATE webhook_endpoint SET state = 'failing', failures = 90, failing_since = now() - interval '3 days',
            last_error = 'The receiver answered 502.' WHERE id = '${id}'`,
  );
  await page.reload();
  await page
    .locator(".notice.bad", { hasText: en["trouble.failing"] })
    .getByText("The receiver answered 502.")
    .waitFor();
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByText(en["trouble.failing"]).waitFor({ state: "detached" });
  receiver.status = 410;
  await program.submitted("aiko", "Not wanted");
  await page.getByText(en["trouble.disabled"]).waitFor();
  expect(await state(page).textContent()).toBe("Disabled");
  receiver.status = 200;
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByText(en["trouble.disabled"]).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByText(en["trouble.disabled"], { exact: true }).waitFor();
});

test("after a rotation both secrets sign for a while", async () => {
  const { page, secret } = await made();
  await page.getByRole("button", { name: "Rotate the secret" }).click();
  await dialog(page).getByLabel(en["webhook.overlap"]).selectOption({ label: "for 72 hours" });
  await dialog(page).getByRole("button", { name: "Make a new secret" }).click();
  const fresh = await dialog(page).getByLabel("Secret that signs").inputValue();
  expect(fresh).not.toBe(secret);
  await dialog(page).getByRole("button", { name: "Done" }).click();
  await page.getByText(en["webhook.old_secret"]).waitFor();
  await program.submitted("aiko", "Signed twice");
  await expect.poll(() => receiver.got.map((one) => one.type)).toContain("request.submit");
  const last = receiver.got.findLast((one) => one.type === "request.submit");
  expect(last && [secret, fresh].map((one) => Receiver.signed(last, one))).toEqual([true, true]);
});

test("what was delivered is sent again from any event on, under the same ids", async () => {
  const { page } = await made(["request.submit"]);
  for (const title of ["Replay one", "Replay two"]) await program.submitted("aiko", title);
  await expect.poll(() => receiver.got.length).toBe(2);
  const before = receiver.got.map((one) => one.id);
  await expect.poll(() => log(page).count(), { timeout: 15_000 }).toBe(2);
  await log(page).last().getByRole("button", { name: "Send again from here" }).click();
  await dialog(page).getByLabel("First event to be sent").fill("99999999");
  await dialog(page).getByRole("button", { name: "Send from there" }).click();
  await dialog(page)
    .getByText(/^Write a number from \d+ to \d+$/)
    .waitFor();
  await dialog(page).getByRole("button", { name: "Cancel" }).click();
  await log(page).last().getByRole("button", { name: "Send again from here" }).click();
  await dialog(page).getByRole("button", { name: "Send from there" }).click();
  await dialog(page).waitFor({ state: "detached" });
  await expect.poll(() => receiver.got.map((one) => one.id)).toEqual([...before, ...before]);
  await expect.poll(() => log(page).count(), { timeout: 15_000 }).toBe(4);
});

test("whoever changes what another has changed is told, and it is deleted after asking twice", async () => {
  const { page, id } = await made();
  await page.getByRole("button", { name: "Change", exact: true }).click();
  await dialog(page).getByLabel("Address").fill(`${receiver.url}/mine`);
  await program.done("dara", "PUT", `/webhooks/${id}`, { url: `${receiver.url}/theirs`, event_types: [], version: 1 });
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await dialog(page).getByText(en["problem.webhook_changed"]).waitFor();
  await dialog(page).getByText(`${receiver.url}/theirs`).waitFor();
  await dialog(page).getByRole("button", { name: "Look at it again" }).click();
  expect(await dialog(page).getByLabel("Address").inputValue()).toBe(`${receiver.url}/mine`);
  await dialog(page).getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name: `${receiver.url}/mine` }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Really delete it?" }).click();
  await page.getByText("No program is told yet").waitFor();
});

test("who is no administrator sees none of it", async () => {
  const ben = await open(program, await context(browser), "ben", watch, `/o/${ORG}/webhooks`);
  await ben.getByText(en["problem.forbidden"]).waitFor();
  expect(await ben.getByRole("link", { name: "Webhooks" }).count()).toBe(0);
});
