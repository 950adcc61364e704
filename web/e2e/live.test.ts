/** What others do is seen at once, without losing the place, and nothing of it is missed while the connection is away. */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Page } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import en from "../messages/en.json";
import {
  browser,
  context,
  dialog,
  monthsAgo,
  ORG,
  open,
  openLive,
  PEOPLE,
  plant,
  program,
  row,
  stage,
  status,
} from "./support";

const watch = stage();

/** The wire between a page and the program, which can be cut: the browser itself notices nothing but the broken connections. */
class Wire {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  async up(): Promise<void> {
    const { hostname, port } = new URL(program.address);
    const server = createServer((near) => {
      const far = connect(Number(port), hostname);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
      }
      near.pipe(far).pipe(near);
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
    });
    await new Promise<void>((listening) => server.listen(this.#port, "127.0.0.1", listening));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  down(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
}

let wire: Wire | undefined;
afterEach(() => wire?.down());

/** Ben's page, which listens. */
async function inbox(path = "inbox"): Promise<Page> {
  wire = new Wire();
  await wire.up();
  return openLive(program, await context(browser), "ben", watch, `/o/${ORG}/${path}`, wire.address);
}

describe("live", () => {
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

  test("a request comes into the list and the count, and what is looked at stays where it is", async () => {
    for (let n = 0; n < 30; n += 1) await program.submitted("aiko", `Before ${n}`);
    const ben = await inbox();
    const list = ben.getByTestId("list");
    const count = async () => Number.parseInt((await ben.locator(".count.strong").textContent()) ?? "", 10);
    await row(ben, "Before 29").waitFor();
    const before = await count();
    // At the top, what is new comes into sight.
    await program.submitted("aiko", "New at the top");
    await row(ben, "New at the top").waitFor();
    expect(await count()).toBe(before + 1);
    // Further down the same rows stay in sight.
    await list.evaluate((element) => element.scrollTo(0, 760));
    await row(ben, "Before 20").waitFor();
    const top = async () => (await row(ben, "Before 20").boundingBox())?.y;
    const place = await top();
    await program.submitted("aiko", "New above");
    await expect.poll(count).toBe(before + 2);
    await expect.poll(() => list.evaluate((element) => element.scrollTop)).toBe(836);
    expect(await top()).toBe(place);
  });

  test("an open request that another decides says so, and a dialog that is open becomes the conversation", async () => {
    const one = await program.submitted("aiko", "Looked at");
    const two = await program.submitted("aiko", "About to be decided");
    const ben = await inbox(`inbox/${one.id}`);
    await program.done("chie", "POST", `/requests/${one.id}/approve`, { version: 2 });
    await ben.getByText(`${PEOPLE.chie.name} approved it after you looked`).waitFor();
    expect(await status(ben).textContent()).toBe("Approved");
    await row(ben, "About to be decided").click();
    await ben.getByRole("heading", { level: 1, name: "About to be decided" }).waitFor();
    await ben.getByRole("button", { name: "Reject" }).click();
    await dialog(ben).getByLabel("Reason").fill("Half a sentence");
    await program.done("chie", "POST", `/requests/${two.id}/send-back`, { version: 2, reason: "Why two?" });
    await dialog(ben).getByText(`${PEOPLE.chie.name} sent it back after you looked`).waitFor();
    expect(await dialog(ben).getByLabel(en["conflict.kept"]).inputValue()).toBe("Half a sentence");
  });

  test("a right that is taken away is gone in a tab that is open", async () => {
    const ben = await inbox("mine");
    const { user_id: _, ...member } = await program.done("dara", "GET", `/members/${PEOPLE.ben.id}`);
    await program.done("dara", "PUT", `/members/${PEOPLE.ben.id}`, { ...member, can_approve: false });
    await ben.getByRole("link", { name: "Inbox" }).waitFor({ state: "detached" });
    await program.done("dara", "PUT", `/members/${PEOPLE.ben.id}`, { ...member, version: member.version + 1 });
    await ben.getByRole("link", { name: "Inbox" }).waitFor();
  });

  test("a month that is closed elsewhere shows as closed", async () => {
    const [period] = (await program.done("dara", "GET", "/statements")).upcoming
      .map((month: { period: string }) => month.period)
      .slice(-1);
    const ben = await inbox(`months/${period}`);
    await ben.getByText(en["months.so_far"]).waitFor();
    await program.done("dara", "POST", `/closings/${period}`, {});
    await ben.locator(".view-head .badge", { hasText: "Closed" }).waitFor();
  });

  test("a dialog of a month stays, with what was typed, whatever happens elsewhere", async () => {
    const period = monthsAgo(5);
    plant(program, period, "0197c0de-0000-7000-a000-00000000c001");
    await program.done("dara", "POST", `/closings/${period}`, {});
    wire = new Wire();
    await wire.up();
    const dara = await openLive(
      program,
      await context(browser),
      "dara",
      watch,
      `/o/${ORG}/months/${period}`,
      wire.address,
    );
    await dara.getByRole("button", { name: "Move to the next open month" }).click();
    await dialog(dara).getByLabel("Reason").fill("Half a sentence");
    const read = dara.waitForResponse((response) => response.url().includes(`/statements/${period}`));
    await program.done("dara", "POST", `/closings/${monthsAgo(8)}`, {});
    await read;
    expect(await dialog(dara).getByLabel("Reason").inputValue()).toBe("Half a sentence");
  });

  test("a burst is looked at together", async () => {
    const ben = await inbox();
    let lists = 0;
    ben.on("request", (request) => {
      if (/\/requests\?/.test(request.url())) lists += 1;
    });
    const made = await Promise.all(Array.from({ length: 60 }, (_, n) => program.submitted("aiko", `Burst ${n}`)));
    const last = made
      .map((request) => request.id)
      .sort()
      .at(-1);
    await ben.locator(`#row-${last}`).waitFor();
    // 120 changes.
    expect(lists).toBeLessThan(30);
  });
});

describe("while the connection is away", () => {
  /** The `Last-Event-ID` of each try. */
  function tries(page: Page): (string | undefined)[] {
    const ids: (string | undefined)[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/events")) ids.push(request.headers()["last-event-id"]);
    });
    return ids;
  }

  /** Something was told, so the page knows where it is; then the wire is cut, and the page says so. */
  async function cutOff(ben: Page, told: string): Promise<void> {
    await program.submitted("aiko", told);
    await row(ben, told).waitFor();
    wire?.down();
    await ben.getByText(en.offline).waitFor();
  }

  test("nothing is missed: it goes on after the last event that it knows", async () => {
    const ben = await inbox();
    const ids = tries(ben);
    await cutOff(ben, "Told before");
    await program.submitted("aiko", "Missed");
    await wire?.up();
    await row(ben, "Missed").waitFor();
    await ben.getByText(en.offline).waitFor({ state: "detached" });
    const position = Number(ids.at(-1));
    const newest = program.sql(`SELECT last_position FROM event_stream WHERE organization_id = '${ORG}'`);
    expect(position).toBeGreaterThan(0);
    expect(position).toBeLessThan(Number(newest));
  });

  test("what is too long ago to be told is read anew", async () => {
    const ben = await inbox();
    await cutOff(ben, "Told before the gap");
    await program.submitted("aiko", "Cleaned away");
    const newest = () => program.sql(`SELECT last_position FROM event_stream WHERE organization_id = '${ORG}'`).trim();
    await expect
      .poll(() => program.sql(`SELECT count(*) FROM outbox_event WHERE organization_id = '${ORG}'`).trim())
      .toBe("0");
    program.sql(
      `DELETE FROM event_log WHERE organization_id = '${ORG}';
       UPDATE event_stream SET trimmed = last_position WHERE organization_id = '${ORG}'`,
    );
    await wire?.up();
    await row(ben, "Cleaned away").waitFor();
    // And it goes on from there.
    await program.submitted("aiko", "After the gap");
    await row(ben, "After the gap").waitFor();
    expect(Number(newest())).toBeGreaterThan(0);
  });

  test("where nobody may listen just now, it is looked instead", async () => {
    const own = await context(browser);
    await own.route("**/events", (route) => route.fulfill({ status: 503, headers: { "Retry-After": "1" }, body: "" }));
    const ben = await open(program, own, "ben", watch, `/o/${ORG}/inbox`);
    await ben.locator(".row").first().waitFor();
    await program.submitted("aiko", "Seen without events");
    await row(ben, "Seen without events").waitFor();
  });
});
