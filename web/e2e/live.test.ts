import { describe, expect, test } from "vitest";
import { browser, context, ORG, open, program, row, stage, status } from "./support";

const watch = stage();

describe("what others do", () => {
  test("shows on an open page by itself, in the list and in the request", async () => {
    const content = { title: "A lamp for the stairs", description: "", amount: 4_200, currency: "JPY" };
    const made = await program.call("aiko", "POST", `/organizations/${ORG}/requests`, content);
    const { id } = (await made.json()) as { id: string };
    const ben = await open(program, await context(browser), "ben", watch);
    const aiko = await open(program, await context(browser), "aiko", watch);
    await row(aiko, content.title).click();
    await aiko.getByRole("heading", { level: 1, name: content.title }).waitFor();
    expect(await row(ben, content.title).count()).toBe(0);

    await program.call("aiko", "POST", `/organizations/${ORG}/requests/${id}/submit`, { version: 1 });
    // Sooner than a page that only asks now and then would see it.
    await row(ben, content.title).waitFor({ timeout: 5_000 });
    await program.call("ben", "POST", `/organizations/${ORG}/requests/${id}/approve`, { version: 2 });
    await expect.poll(() => status(aiko).textContent(), { timeout: 5_000 }).toBe("Approved");
    await row(ben, content.title).waitFor({ state: "detached", timeout: 5_000 });
  });
});
