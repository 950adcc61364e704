/** A person's own mail: from the menu to the link in the mailbox and back. The mail server is a real one. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { context, launch, ORG, open, Program, ROOT, Watch } from "./support";

interface Mail {
  saw: string;
  port: number;
  subject: string;
  text: string;
}

let program: Program;
let browser: Browser;
let office: ChildProcess;
const watch = new Watch();
const seen: Mail[] = [];

let news = () => {};

/** Waits for what the mail server saw; the test's own limit ends it. */
async function until(wanted: (mail: Mail) => boolean): Promise<Mail> {
  for (;;) {
    const found = seen.find(wanted);
    if (found) return found;
    await new Promise<void>((resolve) => {
      news = resolve;
    });
  }
}

beforeAll(async () => {
  execFileSync(join(ROOT, "scripts/peers.sh"));
  office = spawn("node", [join(ROOT, "tests/peers/mail.mjs"), "0"], { stdio: ["pipe", "pipe", "inherit"] });
  if (office.stdout)
    createInterface({ input: office.stdout }).on("line", (line) => {
      seen.push(JSON.parse(line));
      news();
    });
  const { port } = await until(({ saw }) => saw === "start");
  [program, browser] = await Promise.all([
    Program.start({
      RINGI__MAIL__SMTP_URL: `smtp://127.0.0.1:${port}?tls=none`,
      RINGI__MAIL__FROM: "Ringi <ringi@kumo.example>",
      RINGI__MAIL__PUBLIC_URL: "https://ringi.example",
      RINGI__MAIL__SWEEP_INTERVAL_MS: "50",
    }),
    launch(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await program?.stop();
  office?.kill();
});
afterEach(async () => {
  watch.expectNothing();
  for (const one of browser.contexts()) await one.close();
});

/** Where a link of a mail leads, at the server that there is. */
function link(mail: Mail, door: string): string {
  const found = mail.text.match(new RegExp(`https://ringi\\.example(/mail/${door}\\?token=\\S+)`))?.[1];
  if (!found) throw new Error(`no such link: ${mail.text}`);
  return `${program.address}${found}`;
}

test("an address is set, confirmed by its mailbox, and one kind is switched off from there", async () => {
  const everywhere = await context(browser);
  const aiko = await open(program, everywhere, "aiko", watch, `/o/${ORG}/mine`);
  await aiko.locator(".person-menu").click();
  await aiko.getByRole("menuitem", { name: "Mail" }).click();
  await aiko.getByLabel("Address").fill("aiko@people.example");
  // What she may not do she is not told of.
  expect(await aiko.getByRole("switch").count()).toBe(1);
  await aiko.getByRole("button", { name: "Save" }).click();
  await aiko.getByText("The address is not confirmed yet").waitFor();
  const question = await until(({ subject }) => /^Confirm your address/.test(subject ?? ""));

  // In another window, as from a mailbox; without sign-in, and by a person's click alone.
  const mailbox = await everywhere.newPage();
  watch.on(mailbox);
  await mailbox.goto(link(question, "confirm"));
  await mailbox.getByRole("button", { name: "Yes, send it here" }).click();
  await mailbox.getByRole("heading", { name: "Confirmed" }).waitFor();
  await aiko.getByText("The address is not confirmed yet").waitFor({ state: "detached" });

  const request = await program.submitted("aiko", "Ten chairs");
  await program.done("ben", "POST", `/requests/${request.id}/approve`, { version: 2 });
  const decision = await until(({ subject }) => subject === "Approved: Ten chairs");
  await mailbox.goto(link(decision, "unsubscribe"));
  await mailbox.getByRole("button", { name: "No more of these" }).click();
  await mailbox.getByRole("heading", { name: "Done" }).waitFor();
  await aiko.reload();
  await aiko.getByRole("switch", { name: "Decisions on my requests", checked: false }).waitFor();
});
