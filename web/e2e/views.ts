/** Every view of the page, and how to get it to show what it has to. */

import { setTimeout as sleep } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import en from "../messages/en.json";
import ja from "../messages/ja.json";
import { Receiver } from "./receiver";
import { deaf, dialog, monthsAgo, ORG, open, type Program, plant, settled, type Watch, type Who } from "./support";

export type Language = "en" | "ja";

export interface View {
  name: string;
  show(program: Program, context: BrowserContext, watch: Watch, language: Language): Promise<Page>;
}

type Say = (key: keyof typeof en) => string;

/** A view that somebody opens by its address, and what he does there. */
function view(
  name: string,
  who: Who,
  path: string | ((program: Program) => Promise<string>),
  then?: (page: Page, say: Say, program: Program) => Promise<unknown>,
): View {
  return {
    name,
    async show(program, context, watch, language) {
      const below = typeof path === "string" ? path : await path(program);
      const page = await open(program, context, who, watch, `/o/${ORG}/${below}`);
      const sentences: Record<string, string> = language === "ja" ? ja : en;
      await settled(page);
      await then?.(page, (key) => sentences[key] ?? key, program);
      await settled(page);
      return page;
    },
  };
}

/** A view of somebody who is not told of what others do. */
const unheard = ({ name, show }: View): View => ({
  name,
  show: async (program, context, ...rest) => show(program, await deaf(context), ...rest),
});

/** A request of the demo, as the API finds it. */
async function named(program: Program, who: Who, title: string): Promise<{ id: string; version: number }> {
  const found = await program.done(who, "GET", `/requests?view=all&q=${encodeURIComponent(title)}`);
  return found.items[0];
}

const at =
  (who: Who, title: string, view = "all") =>
  async (program: Program) =>
    `${view}/${(await named(program, who, title)).id}`;

/** Eight months of charges; the same ones each time. */
const charges = () =>
  [21, 34, 18, 42, 55, 39, 61, 47].map((thousands, ago) => ({
    id: `0197c0de-0000-7000-8000-0000000d000${ago}`,
    occurred_at: `${monthsAgo(ago)}-10T03:00:00Z`,
    amount: thousands * 250_000,
    currency: "JPY",
    description: "Office rent",
  }));

/** Closes a month, as an administrator does. */
async function close(program: Program, period: string): Promise<void> {
  await program.done("dara", "POST", "/charges", charges());
  await program.done("dara", "POST", `/closings/${period}`, {});
  await until(async () => (await program.done("dara", "GET", `/closings/${period}`)).state !== "running");
}

/** A month with a row that stands in its way. */
async function blocked(program: Program): Promise<string> {
  plant(program, monthsAgo(6), "0197c0de-0000-7000-a000-00000000c00a");
  await close(program, monthsAgo(6));
  return `months/${monthsAgo(6)}`;
}

/** A webhook whose receiver answered well, and then not any more. */
async function failing(program: Program): Promise<string> {
  const known = (await program.done("dara", "GET", "/webhooks")).items[0]?.id;
  if (known) return known;
  const receiver = await Receiver.start();
  const { id } = await program.done("dara", "POST", "/webhooks", { url: receiver.url, event_types: [] });
  const title = "Told to a program";
  await program.submitted("aiko", title);
  await until(() => receiver.got.some((one) => one.type === "request.submit"));
  receiver.status = 502;
  await program.submitted("aiko", title);
  await until(async () => (await program.done("dara", "GET", `/webhooks/${id}`)).failures > 0);
  receiver.stop();
  return id;
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await sleep(50);
}

export const VIEWS: View[] = [
  {
    name: "sign-in",
    async show(program, context, watch) {
      const page = await context.newPage();
      watch.on(page);
      await page.goto(program.address);
      await page.locator(".person").first().waitFor();
      await page.locator("summary").click();
      return page;
    },
  },
  view("inbox", "ben", "inbox"),
  view("mine", "aiko", "mine"),
  view("request", "ben", at("ben", "大阪出張費", "all")),
  view("decided", "aiko", at("aiko", "First-class flight", "mine"), async (page) => {
    await page.locator(".versions summary").click();
    await page.locator(".difference").waitFor();
  }),
  view("approve", "ben", at("ben", "大阪出張費", "inbox"), async (page) => {
    await page.keyboard.press("a");
    await dialog(page).waitFor();
  }),
  unheard(
    view(
      "conflict",
      "chie",
      async (program) => {
        const made = await program.submitted("aiko", "New chairs for the meeting room", {
          description: "Twelve chairs, oak, delivered in December.",
          amount: 216_000,
          currency: "JPY",
        });
        return `inbox/${made.id}`;
      },
      async (page, say, program) => {
        await page.keyboard.press("r");
        await dialog(page).locator("textarea").fill("Twelve are too many: eight people work here.");
        const id = page.url().split("/").at(-1);
        const back = await program.done("ben", "POST", `/requests/${id}/send-back`, {
          version: 2,
          reason: "Eight will do.",
        });
        const edited = await program.done("aiko", "PUT", `/requests/${id}`, {
          version: back.version,
          title: "New chairs for the meeting room",
          description: "Eight chairs, oak, delivered in December.",
          amount: 144_000,
          currency: "JPY",
        });
        await program.done("aiko", "POST", `/requests/${id}/submit`, { version: edited.version });
        await dialog(page)
          .getByRole("button", { name: say("act.reject") })
          .click();
        await dialog(page).getByText(say("conflict.look")).waitFor();
        // The comparison word by word.
        await dialog(page).locator(".text-difference .written > ins").waitFor();
      },
    ),
  ),
  view(
    "edit-conflict",
    "aiko",
    async (program) => {
      const draft = await program.done("aiko", "POST", "/requests", {
        title: "Whiteboard",
        description: "For the small room.",
        amount: 18_000,
        currency: "JPY",
      });
      return `write?id=${draft.id}`;
    },
    async (page, say, program) => {
      await page.getByLabel(say("field.description")).fill("For the large room, with wheels.");
      const id = new URL(page.url()).searchParams.get("id");
      await program.done("aiko", "PUT", `/requests/${id}`, {
        version: 1,
        title: "Whiteboard",
        description: "For the small room, with a ledge for pens.",
        amount: 21_000,
        currency: "JPY",
      });
      await page.getByRole("button", { name: say("edit.save") }).click();
      await page.locator("fieldset").first().waitFor();
    },
  ),
  view(
    "processing",
    "ben",
    async (program) => {
      const made = await program.submitted("aiko", "Booth at the fair", { amount: 90_000, currency: "JPY" });
      await program.done("ben", "POST", `/requests/${made.id}/approve`, { version: made.version });
      return `all/${made.id}`;
    },
    async (page, say) => {
      await page.locator(".processing").getByText(say("job.running")).waitFor();
    },
  ),
  view("empty", "ben", "inbox?q=nothing+is+called+so", async (page) => {
    await page.locator(".empty").waitFor();
  }),
  view("not-found", "ben", "nowhere", async (page) => {
    await page.locator(".empty").waitFor();
  }),
  view("sign-in-again", "ben", at("ben", "大阪出張費", "inbox"), async (page, say) => {
    await page.route("**/approve", (route) =>
      route.fulfill({ status: 401, contentType: "application/problem+json", body: "{}" }),
    );
    await page.route("**/api/v1/sign-in/demo", (route) => route.abort());
    await page.keyboard.press("a");
    await dialog(page)
      .getByRole("button", { name: say("act.approve") })
      .click();
    await page.locator(".dialog .person").waitFor();
  }),
  view("write", "aiko", "write", async (page, say) => {
    await page.getByLabel(say("field.title"), { exact: true }).fill("Trade fair in Osaka");
    await page.getByLabel(say("field.amount")).fill("48,600.5");
    await page.getByLabel(say("field.currency")).selectOption("JPY");
    await page.getByLabel(say("field.description")).fill("Two days, one night.\nShinkansen both ways.");
    await page.getByLabel(say("field.title"), { exact: true }).focus();
  }),
  view("months", "dara", async (program) => {
    await program.done("dara", "POST", "/charges", charges());
    return "months";
  }),
  view("month", "dara", async (program) => {
    await program.done("dara", "POST", "/charges", charges());
    return `months/${monthsAgo(1)}`;
  }),
  view("month-closed", "dara", async (program) => {
    await close(program, monthsAgo(7));
    return `months/${monthsAgo(7)}`;
  }),
  view("month-blocked", "dara", blocked),
  view("correct", "dara", blocked, async (page, say) => {
    await page.getByRole("button", { name: say("correct.open") }).click();
    await dialog(page).locator(".judged").waitFor();
  }),
  view("close", "dara", `months/${monthsAgo(1)}`, async (page, say) => {
    await page.getByRole("button", { name: say("closing.go") }).click();
    await dialog(page).waitFor();
  }),
  view("members", "dara", "members"),
  view("member", "dara", "members", async (page) => {
    await page.locator(".cell-actions button").nth(1).click();
    await dialog(page).waitFor();
  }),
  view("invite", "dara", "members", async (page, say) => {
    await page.getByRole("button", { name: say("invite.title") }).click();
    await dialog(page).locator("input").first().fill("Emi Mori");
    await dialog(page)
      .getByRole("button", { name: say("invite.go") })
      .click();
    await dialog(page).locator(".copyable").waitFor();
  }),
  view("webhooks", "dara", async (program) => {
    await failing(program);
    return "webhooks";
  }),
  view("webhook", "dara", async (program) => `webhooks/${await failing(program)}`),
  view("webhook-new", "dara", "webhooks", async (page, say) => {
    await page.getByRole("button", { name: say("webhook.new") }).click();
    await dialog(page).getByLabel(say("webhook.url")).fill("http://10.0.0.1/");
    await dialog(page).getByLabel(say("webhook.some_events")).check();
    await dialog(page).locator("[type=checkbox]").nth(3).check();
    await dialog(page)
      .getByRole("button", { name: say("webhook.make") })
      .click();
    await dialog(page).locator(".has-problem").waitFor();
  }),
  view(
    "webhook-secret",
    "dara",
    async (program) => `webhooks/${await failing(program)}`,
    async (page, say) => {
      await page.getByRole("button", { name: say("webhook.rotate") }).click();
      await dialog(page)
        .getByRole("button", { name: say("webhook.rotate_go") })
        .click();
      await dialog(page).locator(".copyable").waitFor();
    },
  ),
  view("history", "dara", "history", async (page, say) => {
    await page.getByRole("button", { name: say("verify.go") }).click();
    await page.locator(".notice.good").waitFor();
  }),
  view("mail", "aiko", "mail"),
  view("menu", "dara", "months", async (page) => {
    await page.locator(".person-menu").click();
    await page.locator(".menu").waitFor();
  }),
  view("help", "ben", "inbox", async (page) => {
    await page.keyboard.press("?");
    await dialog(page).waitFor();
  }),
];
