/** Signing in at an identity provider: a real one (a certified implementation of OpenID Connect), on this machine. */

import { generateKeyPairSync } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import en from "../messages/en.json";
import { context, launch, ORG, Program, Watch } from "./support";

let program: Program;
let browser: Browser;
let server: Server;
const watch = new Watch();

/** A provider whose tokens for Ringi are JWTs, and which lets the page of this origin, and no other, call it. */
async function provider(): Promise<{ issuer: string; allow(origin: string): void }> {
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
  server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    allow(origin) {
      const oidc = new Provider(issuer, {
        clients: [
          {
            client_id: "ringi-page",
            token_endpoint_auth_method: "none",
            redirect_uris: [`${origin}/callback`],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
          },
        ],
        jwks: { keys: [{ ...key, kid: "one", use: "sig", alg: "ES256" }] },
        clientBasedCORS: (_context, from) => from === origin,
        clientDefaults: { id_token_signed_response_alg: "ES256" },
        features: {
          devInteractions: { enabled: true },
          resourceIndicators: {
            enabled: true,
            useGrantedResource: () => true,
            getResourceServerInfo: () => ({
              scope: "",
              audience: "ringi",
              accessTokenFormat: "jwt",
              accessTokenTTL: 3600,
              jwt: { sign: { alg: "ES256" } },
            }),
          },
        },
        findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
      });
      // Its own warnings are about running it like this.
      oidc.on("server_error", (_context, error) => watch.found.push(`provider: ${error.message}`));
      server.on("request", oidc.callback());
    },
  };
}

beforeAll(async () => {
  const { issuer, allow } = await provider();
  program = await Program.start({
    RINGI__AUTH__ISSUERS: JSON.stringify([
      { issuer, audience: "ringi", algorithm: "ES256", jwks_url: `${issuer}/jwks` },
    ]),
    RINGI__PAGE__ISSUER: issuer,
    RINGI__PAGE__CLIENT_ID: "ringi-page",
    RINGI__PAGE__SCOPE: "openid offline_access",
    RINGI__PAGE__RESOURCE: "https://ringi.example",
  });
  allow(program.address);
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await program?.stop();
  server?.closeAllConnections();
  server?.close();
});

/** The provider's own pages: who, and yes. */
async function atProvider(page: Page, login?: string): Promise<void> {
  await page.route(/fonts\.googleapis/, (route) => route.abort());
  if (login) {
    await page.locator("input[name=login]").fill(login);
    await page.locator("input[name=password]").fill("anything");
    await page.getByRole("button", { name: "Sign-in" }).click();
  }
  await page.getByRole("button", { name: "Continue" }).click();
}

test("somebody signs in there, becomes a member, and stays signed in", async () => {
  const page = await (await context(browser)).newPage();
  watch.on(page);
  // A deep link is where he wanted to go, and where he gets to.
  await page.goto(`${program.address}/o/${ORG}/mine?q=desk`);
  await page.getByRole("button", { name: /Sign in at localhost/ }).click();
  await atProvider(page, "emi");
  await page.waitForURL(`${program.address}/o/${ORG}/mine?q=desk`);
  // He is known, and a member of nothing.
  await page.getByText("Nothing here").waitFor();
  await page.getByRole("link", { name: en["not_found.home"] }).click();
  const id = (await page.locator(".selectable").textContent()) ?? "";
  await program.done("dara", "POST", "/members", {
    user_id: id,
    display_name: "Emi Mori",
    is_active: true,
    can_approve: true,
    is_admin: false,
  });
  await page.getByRole("button", { name: "Look again" }).click();
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  expect(await page.locator(".person-menu-name").textContent()).toBe("Emi Mori");

  // No token stands anywhere, and the code is gone from the address and from what was before it.
  const stored = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie]),
  );
  expect(stored).not.toMatch(/eyJ|code=|verifier/);

  // A token that is refused is renewed in silence.
  let refused = 0;
  await page.route(/\/requests\?/, (route) => {
    refused += 1;
    return refused === 1
      ? route.fulfill({ status: 401, contentType: "application/problem+json", body: "{}" })
      : route.continue();
  });
  const renewed = page.waitForResponse((response) => response.url().endsWith("/token"));
  await page.getByRole("link", { name: "All requests" }).click();
  expect((await renewed).status()).toBe(200);
  await expect.poll(() => refused).toBeGreaterThan(1);
  expect(await page.locator(".dialog").count()).toBe(0);
  watch.expectNothing();
});

test("where nothing renews it, he signs in again beside the page, which stays as it is", async () => {
  const page = await (await context(browser)).newPage();
  watch.on(page);
  await page.goto(program.address);
  await page.getByRole("button", { name: /Sign in at localhost/ }).click();
  await atProvider(page, "emi");
  await page.getByRole("heading", { level: 1, name: "Inbox" }).waitFor();
  await page.getByRole("link", { name: "New request" }).click();
  await page.getByLabel("Title", { exact: true }).fill("Typed before it ran out");

  await page.route("**/token", (route) => route.abort());
  let refused = 0;
  await page.route("**/requests", (route) => {
    refused += 1;
    return refused === 1
      ? route.fulfill({ status: 401, contentType: "application/problem+json", body: "{}" })
      : route.continue();
  });
  // The draft saves itself, which needs a token.
  const again = page.locator(".dialog", { hasText: "Sign in again" });
  await again.waitFor();
  await page.unroute("**/token");
  const [beside] = await Promise.all([
    page.waitForEvent("popup"),
    again.getByRole("button", { name: /Sign in at localhost/ }).click(),
  ]);
  const closed = beside.waitForEvent("close");
  await atProvider(beside);
  await closed;
  await again.waitFor({ state: "detached" });
  expect(await page.getByLabel("Title", { exact: true }).inputValue()).toBe("Typed before it ran out");
  await page.getByText("Saved", { exact: true }).waitFor();
  expect(refused).toBe(2);
  watch.expectNothing();
});

test("an answer that nobody asked for is refused", async () => {
  const page = await (await context(browser)).newPage();
  await page.goto(`${program.address}/callback?code=stolen&state=invented`);
  await page.getByText(en["sign_in.failed"]).waitFor();
  expect(new URL(page.url()).search).toBe("");
});
