/** What administrators do: the members and their rights, and the history, to look through, to take along, to prove. */

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import en from "../messages/en.json";
import { browser, context, dialog, ORG, open, PEOPLE, program, SECRET, stage } from "./support";

const watch = stage();

const member = (page: Page, name: string) => page.locator("tbody tr", { hasText: name });

/** Opens a member's dialog, and turns a right on or off. */
async function turn(page: Page, name: string, right: string): Promise<void> {
  await member(page, name).getByRole("button", { name: "Change" }).click();
  await dialog(page).getByRole("switch", { name: right }).click();
  await dialog(page).getByRole("button", { name: "Save" }).click();
}

describe("members", () => {
  test("the last administrator stays one, and is told what to do first", async () => {
    const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/members`);
    await turn(dara, PEOPLE.dara.name, "Administrator");
    await dialog(dara).getByText(en["problem.last_admin"]).waitFor();
    await dialog(dara).getByRole("button", { name: "Cancel" }).click();
    expect(await member(dara, PEOPLE.dara.name).textContent()).toContain("Administrator");
    // With another one it can be given away; then the views of administrators are gone.
    await turn(dara, PEOPLE.ben.name, "Administrator");
    await member(dara, PEOPLE.ben.name).getByText("Administrator").waitFor();
    await turn(dara, PEOPLE.dara.name, "Administrator");
    await dara.getByRole("link", { name: "Members" }).waitFor({ state: "detached" });
    await program.done("ben", "PUT", `/members/${PEOPLE.dara.id}`, {
      version: 2,
      display_name: PEOPLE.dara.name,
      is_active: true,
      can_approve: false,
      is_admin: true,
    });
  });

  test("whoever changes what another has changed meanwhile is told, and keeps what he chose", async () => {
    const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/members`);
    await member(dara, PEOPLE.aiko.name).getByRole("button", { name: "Change" }).click();
    await dialog(dara).getByLabel("Name").fill("Aiko Tanaka-Mori");
    const { user_id: _, ...aiko } = await program.done("dara", "GET", `/members/${PEOPLE.aiko.id}`);
    await program.done("dara", "PUT", `/members/${PEOPLE.aiko.id}`, { ...aiko, can_approve: true });
    await dialog(dara).getByRole("button", { name: "Save" }).click();
    await dialog(dara).getByText(en["member_conflict.title"]).waitFor();
    await dialog(dara).locator(".notice", { hasText: "Approver" }).waitFor();
    await dialog(dara).getByRole("button", { name: "Look at it again" }).click();
    expect(await dialog(dara).getByLabel("Name").inputValue()).toBe("Aiko Tanaka-Mori");
    await dialog(dara).getByRole("button", { name: "Save" }).click();
    await dialog(dara).waitFor({ state: "detached" });
    await program.done("dara", "PUT", `/members/${PEOPLE.aiko.id}`, { ...aiko, version: aiko.version + 2 });
  });

  test("an invitation's link is shown once, works once, and brings a member in", async () => {
    const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/members`);
    await dara.getByRole("button", { name: "Invite" }).click();
    await dialog(dara).getByRole("button", { name: "Make the invitation" }).click();
    await dialog(dara).locator(".field.has-problem", { hasText: en["rule.required"] }).waitFor();
    await dialog(dara).getByLabel("Name").fill("Emi Mori");
    await dialog(dara).getByRole("switch", { name: "May approve" }).click();
    await dialog(dara).getByRole("button", { name: "Make the invitation" }).click();
    const link = await dialog(dara).getByLabel("Link of the invitation").inputValue();
    await dialog(dara).getByRole("button", { name: "Done" }).click();
    await dara.getByRole("tab", { name: "Invitations" }).click();
    await member(dara, "Emi Mori").getByText("Open").waitFor();
    expect(await dara.content()).not.toContain(new URL(link).hash.slice(1));

    // Two people whom nobody knows yet have the same link.
    const [emi, late] = [await invited(link), await invited(link)];
    await emi.getByRole("button", { name: "Accept the invitation" }).click();
    await emi.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
    await emi.getByText("Emi Mori").waitFor();
    await late.getByRole("button", { name: "Accept the invitation" }).click();
    await late.getByText(en["problem.invitation_not_open"]).waitFor();
  });
});

/** Somebody who follows an invitation's link, and signs in as a person of no organization. */
async function invited(link: string): Promise<Page> {
  const page = await (await context(browser)).newPage();
  watch.on(page);
  await page.goto(link);
  await page.getByText("Sign in with a token").click();
  await page.getByLabel("Access token").fill(await newcomer());
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  return page;
}

/** A token of a person who is no member, as `ringi token` makes it. */
async function newcomer(): Promise<string> {
  const { createHmac, randomUUID } = await import("node:crypto");
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const known = await program.token(PEOPLE.ben.id);
  const [head = "", claims = ""] = known.split(".");
  const body = `${head}.${part({ ...JSON.parse(Buffer.from(claims, "base64url").toString()), sub: randomUUID() })}`;
  return `${body}.${createHmac("sha256", SECRET).update(body).digest("base64url")}`;
}

describe("history", () => {
  const rows = (page: Page) => page.locator(".table.wide tbody tr");

  test("is narrowed by what stands in the address, also on the way back", async () => {
    const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/history?action=reject`);
    await rows(dara).first().waitFor();
    expect(new Set(await dara.locator(".table.wide td:nth-child(3)").allInnerTexts())).toEqual(
      new Set(["Rejected\nEconomy, please: see the travel policy."]),
    );
    expect(await dara.getByLabel("Action").inputValue()).toBe("reject");
    await dara.getByLabel("Action").selectOption({ label: "Added" });
    await rows(dara).filter({ hasText: "Member added" }).first().waitFor();
    expect(new URL(dara.url()).searchParams.get("action")).toBe("add");
    await dara.getByLabel("Who").selectOption({ label: PEOPLE.aiko.name });
    await dara.getByText("Nothing happened in this selection").waitFor();
    await dara.reload();
    await dara.getByText("Nothing happened in this selection").waitFor();
    // Tomorrow has not been yet.
    await dara.goto(`${program.address}/o/${ORG}/history?from=2099-01-01`);
    await dara.getByText("Nothing happened in this selection").waitFor();
  });

  test("is downloaded whole, as CSV and as NDJSON, just as it is narrowed", async () => {
    const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/history?kind=request`);
    const download = async (form: string) => {
      const downloading = dara.waitForEvent("download");
      await dara.getByRole("button", { name: form, exact: true }).click();
      const file = await downloading;
      expect(file.suggestedFilename()).toBe(`ringi-history.${form.toLowerCase()}`);
      return readFileSync(await file.path(), "utf8");
    };
    const lines = (await download("NDJSON")).trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as { kind: string; action: string });
    expect(new Set(entries.map((entry) => entry.kind))).toEqual(new Set(["request"]));
    expect(entries.some((entry) => entry.action === "approve")).toBe(true);
    const csv = (await download("CSV")).trimEnd().split("\r\n");
    expect(csv[0]).toContain("request_id");
    expect(csv.length).toBeGreaterThan(entries.length);
    // That it was taken along is history as well.
    await dara.getByLabel("Kind").selectOption({ label: "Access" });
    await rows(dara).filter({ hasText: "History downloaded" }).first().waitFor();
  });

  test("a download that breaks off leaves no file, and says so", async () => {
    const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/history`);
    let files = 0;
    dara.on("download", () => {
      files += 1;
    });
    await dara.route("**/history?*", (route) =>
      route.request().headers().accept === "text/csv" ? route.abort("connectionreset") : route.continue(),
    );
    await dara.route("**/history", (route) =>
      route.request().headers().accept === "text/csv" ? route.abort("connectionreset") : route.continue(),
    );
    await dara.getByRole("button", { name: "CSV" }).click();
    await dara.getByText(en["download.failed"]).waitFor();
    expect(files).toBe(0);
  });

  test("proves itself, and names the row that somebody changed past the program", async () => {
    const dara = await open(program, await context(browser), "dara", watch, `/o/${ORG}/history`);
    await dara.getByRole("button", { name: "Verify" }).click();
    await dara.getByText(/^Untouched: \d+ rows, each as it was written$/).waitFor();
    const request = await program.submitted("aiko", "Tampered with");
    program.sql(
      `SET session_replication_role = replica;
       UPDATE approval_history SET occurred_at = occurred_at - interval '1 day' WHERE request_id = '${request.id}' AND version = 2`,
    );
    await dara.getByRole("button", { name: "Verify" }).click();
    const told = dara.locator(".notice.bad", { hasText: "The chain is broken" });
    await told.getByText(request.id).waitFor();
    await told.getByText(en["break.entry_hash"]).waitFor();
    program.sql(
      `SET session_replication_role = replica;
       UPDATE approval_history SET occurred_at = occurred_at + interval '1 day' WHERE request_id = '${request.id}' AND version = 2`,
    );
  });
});
