import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { browser, context, deaf, dialog, ORG, open, PEOPLE, program, row, stage, status } from "./support";

const watch = stage();

/** Opens a request from the list. */
async function look(page: Page, title: string) {
  await row(page, title).click();
  await page.getByRole("heading", { level: 1, name: title }).waitFor();
}

describe("the whole life of a request, by two people in two browsers", () => {
  test("written, submitted, sent back, edited, submitted again, approved", async () => {
    const aiko = await open(program, await context(browser), "aiko", watch);
    const ben = await open(program, await context(browser), "ben", watch);

    await aiko.getByRole("link", { name: "New request" }).click();
    await aiko.getByLabel("Title", { exact: true }).fill("Trade fair in Osaka");
    await aiko.getByLabel("Amount").fill("48,600");
    await aiko.getByLabel("Currency").selectOption("JPY");
    await aiko.getByLabel("Description").fill("Two days, one night.");
    await aiko.getByRole("button", { name: "Submit" }).click();
    await aiko.getByRole("heading", { level: 1, name: "Trade fair in Osaka" }).waitFor();
    expect(await status(aiko).textContent()).toBe("Pending");
    // Who wrote it can take it back, and nothing else.
    expect(await aiko.locator(".actions.sticky button").allTextContents()).toEqual(["Withdraw"]);

    await ben.reload();
    await look(ben, "Trade fair in Osaka");
    await ben.getByRole("button", { name: "Send back" }).click();
    // Without a reason nothing is sent.
    await dialog(ben).getByRole("button", { name: "Send back" }).click();
    await dialog(ben).getByText("Please fill this in").waitFor();
    await dialog(ben).getByLabel("Reason").fill("Which hotel?");
    await dialog(ben).getByRole("button", { name: "Send back" }).click();
    await dialog(ben).waitFor({ state: "detached" });
    expect(await status(ben).textContent()).toBe("Sent back");

    await aiko.reload();
    await aiko.getByText("Which hotel?").first().waitFor();
    await aiko.getByRole("button", { name: "Edit" }).click();
    await aiko.getByText("Which hotel?").waitFor();
    await aiko.getByLabel("Description").fill("Two days, one night, at the Hotel Granvia.");
    await aiko.getByRole("button", { name: "Submit" }).click();
    await aiko.getByRole("heading", { level: 1, name: "Trade fair in Osaka" }).waitFor();

    await ben.reload();
    await look(ben, "Trade fair in Osaka");
    await ben.getByText("Compare versions").click();
    await ben.locator(".difference ins", { hasText: "Granvia" }).waitFor();
    await ben.getByRole("button", { name: "Approve" }).click();
    await dialog(ben).getByLabel("Comment").fill("Within the budget.");
    await dialog(ben).getByRole("button", { name: "Approve" }).click();
    await dialog(ben).waitFor({ state: "detached" });
    expect(await status(ben).textContent()).toBe("Approved");
    expect(await ben.locator(".actions.sticky").count()).toBe(0);

    await aiko.reload();
    expect(await status(aiko).textContent()).toBe("Approved");
    expect(await aiko.locator(".event-head > span:first-child").allTextContents()).toEqual([
      "Ben Okafor approved it",
      "Aiko Tanaka submitted it",
      "Aiko Tanaka edited it",
      "Ben Okafor sent it back",
      "Aiko Tanaka submitted it",
      "Aiko Tanaka began a draft",
    ]);
  });
});

describe("when somebody was faster", () => {
  test("it is said who, nothing is sent again, and what was typed is kept", async () => {
    const request = await program.submitted("aiko", "Standing lamp", {
      description: "Brass.",
      amount: 12000,
      currency: "JPY",
    });
    const chie = await open(program, await deaf(context(browser)), "chie", watch, `/o/${ORG}/inbox/${request.id}`);
    await chie.getByRole("button", { name: "Reject" }).click();
    await dialog(chie).getByLabel("Reason").fill("Too expensive for a lamp.");
    // Meanwhile Ben sends it back, Aiko changes it and submits it again.
    const back = await program.done("ben", "POST", `/requests/${request.id}/send-back`, {
      version: 2,
      reason: "Cheaper?",
    });
    const edited = await program.done("aiko", "PUT", `/requests/${request.id}`, {
      version: back.version,
      title: "Standing lamp",
      description: "Steel.",
      amount: 4000,
      currency: "JPY",
    });
    await program.done("aiko", "POST", `/requests/${request.id}/submit`, { version: edited.version });

    const sent: string[] = [];
    chie.on("request", (call) => call.method() === "POST" && sent.push(call.url()));
    await dialog(chie).getByRole("button", { name: "Reject" }).click();
    await dialog(chie).getByText("Aiko Tanaka submitted it after you looked").waitFor();
    await dialog(chie).getByText("“Reject” was not done").waitFor();
    await dialog(chie).locator("del", { hasText: "Brass" }).waitFor();
    await dialog(chie).locator("ins", { hasText: "Steel" }).waitFor();
    await dialog(chie).locator("ins", { hasText: "¥4,000" }).waitFor();
    expect(await dialog(chie).getByLabel("What you had typed").inputValue()).toBe("Too expensive for a lamp.");
    expect(sent).toHaveLength(1);

    // Looks again, and decides anew, with what was typed.
    await dialog(chie).getByRole("button", { name: "Look at it again" }).click();
    await dialog(chie).waitFor({ state: "detached" });
    await chie.locator(".description", { hasText: "Steel." }).waitFor();
    await chie.getByRole("button", { name: "Reject" }).click();
    expect(await dialog(chie).getByLabel("Reason").inputValue()).toBe("Too expensive for a lamp.");
    await dialog(chie).getByLabel("Reason").fill("Still too expensive.");
    await dialog(chie).getByRole("button", { name: "Reject" }).click();
    await dialog(chie).waitFor({ state: "detached" });
    expect(await status(chie).textContent()).toBe("Rejected");
    expect(sent).toHaveLength(2);
    const now = await program.done("chie", "GET", `/requests/${request.id}`);
    expect(now).toMatchObject({ status: "rejected", decision_reason: "Still too expensive.", version: 6 });
  });

  test("an approval that came too late is told, also where nothing can be decided any more", async () => {
    const request = await program.submitted("aiko", "Desk fan");
    const chie = await open(program, await deaf(context(browser)), "chie", watch, `/o/${ORG}/inbox/${request.id}`);
    await chie.getByRole("button", { name: "Approve" }).click();
    await program.done("ben", "POST", `/requests/${request.id}/reject`, { version: 2, reason: "It is winter." });
    await dialog(chie).getByRole("button", { name: "Approve" }).click();
    await dialog(chie).getByText("Ben Okafor rejected it after you looked").waitFor();
    await dialog(chie).getByRole("button", { name: "Look at it again" }).click();
    await dialog(chie).waitFor({ state: "detached" });
    expect(await status(chie).textContent()).toBe("Rejected");
    expect(await chie.locator(".actions.sticky").count()).toBe(0);
    await chie.getByText("It is winter.").first().waitFor();
  });

  test("the same person in two tabs: both texts are shown, and the person chooses", async () => {
    const draft = await program.done("aiko", "POST", "/requests", {
      title: "Two tabs",
      description: "As it was.",
      amount: null,
      currency: null,
    });
    const own = await deaf(context(browser));
    const [one, two] = [
      await open(program, own, "aiko", watch, `/o/${ORG}/write?id=${draft.id}`),
      await open(program, own, "aiko", watch, `/o/${ORG}/write?id=${draft.id}`),
    ];
    await one.getByLabel("Description").fill("From the first tab.");
    await two.getByLabel("Description").fill("From the second tab.");
    await two.getByLabel("Title", { exact: true }).fill("Two tabs, one draft");
    await one.getByRole("button", { name: "Save draft" }).click();
    await one.getByText("Saved", { exact: true }).waitFor();
    await two.getByRole("button", { name: "Save draft" }).click();
    await two.getByText("You edited it yourself, elsewhere").waitFor();
    await two.locator("fieldset", { hasText: "Description" }).getByText("From the first tab.").click();
    await two.getByRole("button", { name: "Go on with this" }).click();
    expect(await two.getByLabel("Title", { exact: true }).inputValue()).toBe("Two tabs, one draft");
    expect(await two.getByLabel("Description").inputValue()).toBe("From the first tab.");
    await two.getByRole("button", { name: "Save draft" }).click();
    await two.getByText("Saved", { exact: true }).waitFor();
    const now = await program.done("aiko", "GET", `/requests/${draft.id}`);
    expect(now).toMatchObject({ title: "Two tabs, one draft", description: "From the first tab.", version: 3 });
  });
});

test("a draft is saved by itself after a rest, and a reload loses nothing", async () => {
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/write`);
  await aiko.getByLabel("Title", { exact: true }).fill("Autosaved");
  const saved = aiko.waitForResponse(
    (response) => response.request().method() === "POST" && response.url().endsWith("/requests"),
  );
  const draft = (await (await saved).json()) as { id: string; version: number };
  await aiko.waitForURL((url) => url.searchParams.get("id") === draft.id);
  // The focus stays where somebody types.
  await aiko.keyboard.type(" and going on");
  expect(await aiko.getByLabel("Title", { exact: true }).inputValue()).toBe("Autosaved and going on");
  await aiko.reload();
  await aiko.getByText("What you had typed here before is back.").waitFor();
  expect(await aiko.getByLabel("Title", { exact: true }).inputValue()).toBe("Autosaved and going on");
  await aiko.getByRole("button", { name: "Save draft" }).click();
  await aiko.getByText("Saved", { exact: true }).waitFor();
  expect(await program.done("aiko", "GET", `/requests/${draft.id}`)).toMatchObject({
    title: "Autosaved and going on",
    version: 2,
  });
});

test("who leaves an unsaved text is asked, and finds it again", async () => {
  const aiko = await open(program, await context(browser), "aiko", watch, `/o/${ORG}/mine`);
  await aiko.getByRole("link", { name: "New request" }).click();
  await aiko.getByLabel("Title", { exact: true }).fill("Not saved");
  await aiko.goBack();
  await dialog(aiko).getByRole("button", { name: "Stay here" }).click();
  expect(await aiko.getByLabel("Title", { exact: true }).inputValue()).toBe("Not saved");
  await aiko.goBack();
  await dialog(aiko).getByRole("button", { name: "Leave, keep it in this tab" }).click();
  await aiko.getByRole("heading", { level: 1, name: "My requests" }).waitFor();
  await aiko.getByRole("link", { name: "New request" }).click();
  expect(await aiko.getByLabel("Title", { exact: true }).inputValue()).toBe("Not saved");
});

test("only the keyboard: from the list to a decision and on", async () => {
  await program.submitted("aiko", "Key one");
  await program.submitted("aiko", "Key two");
  const ben = await open(program, await context(browser), "ben", watch);
  await row(ben, "Key two").waitFor();
  await ben.keyboard.press("?");
  await dialog(ben).getByText("Keyboard shortcuts").waitFor();
  await ben.keyboard.press("Escape");
  await dialog(ben).waitFor({ state: "detached" });
  await ben.keyboard.press("j");
  await ben.keyboard.press("j");
  await ben.keyboard.press("k");
  await ben.keyboard.press("Enter");
  await ben.getByRole("heading", { level: 1, name: "Key two" }).waitFor();
  await ben.keyboard.press("r");
  await ben.locator("textarea:focus").waitFor();
  // What is typed into the reason is text: no key of it decides anything.
  await ben.keyboard.type("just a reason");
  await ben.keyboard.press("Control+Enter");
  await dialog(ben).waitFor({ state: "detached" });
  expect(await status(ben).textContent()).toBe("Rejected");
  await ben.keyboard.press("Escape");
  await row(ben, "Key two").waitFor({ state: "detached" });
  await ben.keyboard.press("/");
  await ben.keyboard.type("key one");
  await ben.waitForURL(/q=key(\+|%20)one/);
  expect(await ben.locator(".row-title").allTextContents()).toEqual(["Key one"]);
  await ben.keyboard.press("Escape");
  await ben.keyboard.press("j");
  await ben.keyboard.press("a");
  await dialog(ben).getByText("Approve this request?").waitFor();
  expect(PEOPLE.ben.name).toBe("Ben Okafor");
});
