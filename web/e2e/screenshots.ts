/** Every view as people see it: `make screenshots` writes them into target/screenshots, to be looked at. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { WEBHOOKS } from "./receiver";
import { context, launch, Outside, Program, ROOT, still, Watch } from "./support";
import { VIEWS } from "./views";

const folder = join(ROOT, "target/screenshots");

test("every view, in both languages and themes, on a desktop and a phone", { timeout: 900_000 }, async () => {
  mkdirSync(folder, { recursive: true });
  // It never answers, so that what follows an approval is seen while it runs.
  const outside = await Outside.start();
  const [program, browser] = [await Program.start({ ...outside.settings, ...WEBHOOKS }), await launch()];
  const watch = new Watch();
  const only = process.env.ONLY?.split(",");
  const shapes = [
    { phone: false, language: "en", theme: "light" },
    { phone: false, language: "ja", theme: "dark" },
    { phone: true, language: "ja", theme: "light" },
    { phone: true, language: "en", theme: "dark" },
    { phone: false, language: "en", theme: "dark" },
    { phone: false, language: "ja", theme: "light" },
    { phone: true, language: "en", theme: "light" },
    { phone: true, language: "ja", theme: "dark" },
  ] as const;
  try {
    for (const shape of shapes.slice(0, Number(process.env.SHAPES ?? shapes.length))) {
      for (const view of VIEWS.filter((view) => !only || only.includes(view.name))) {
        const page = await view.show(program, await context(browser, shape), watch, shape.language);
        const name = [view.name, shape.phone ? "phone" : "desktop", shape.language, shape.theme].join("-");
        await still(page);
        await page.screenshot({ path: join(folder, `${name}.png`) });
        await page.context().close();
      }
    }
    watch.expectNothing();
  } finally {
    outside.stop();
    await browser.close();
    await program.stop();
  }
});
