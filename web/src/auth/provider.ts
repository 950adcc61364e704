/** Signing in at an identity provider: authorization code with PKCE, by a client that can keep no secret. */

import * as oauth from "oauth4webapi";
import type { SignInProvider } from "../api/types";
import { expiryOf, type Grant } from "./session";

/** What must be known again when the provider sends the person back. None of it is a token. */
interface Pending {
  state: string;
  nonce: string;
  verifier: string;
  returnTo: string;
}

const PENDING = "ringi.sign-in";
const CHANNEL = "ringi.sign-in";
/** How a window that was opened beside the page is told from a page that left. */
const BESIDE = "beside.";

const isLocal = (url: string) => ["localhost", "127.0.0.1", "[::1]"].includes(new URL(url).hostname);

function options(provider: SignInProvider) {
  // Plain HTTP is for a provider on this machine, such as one that is tried out.
  return isLocal(provider.issuer) ? { [oauth.allowInsecureRequests]: true } : {};
}

const servers = new Map<string, Promise<oauth.AuthorizationServer>>();

function discover(provider: SignInProvider): Promise<oauth.AuthorizationServer> {
  let found = servers.get(provider.issuer);
  if (!found) {
    const issuer = new URL(provider.issuer);
    found = oauth
      .discoveryRequest(issuer, options(provider))
      .then((response) => oauth.processDiscoveryResponse(issuer, response));
    found.catch(() => servers.delete(provider.issuer));
    servers.set(provider.issuer, found);
  }
  return found;
}

const redirectUri = () => `${location.origin}/callback`;

async function begin(
  provider: SignInProvider,
  prefix: string,
  returnTo: string,
): Promise<{ url: URL; pending: Pending }> {
  const server = await discover(provider);
  if (!server.authorization_endpoint) throw new Error("the provider names no authorization endpoint");
  const pending = {
    state: prefix + oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
    verifier: oauth.generateRandomCodeVerifier(),
    returnTo,
  };
  const url = new URL(server.authorization_endpoint);
  const parameters: Record<string, string> = {
    client_id: provider.client_id,
    redirect_uri: redirectUri(),
    response_type: "code",
    scope: provider.scope,
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: "S256",
  };
  if (provider.resource) parameters.resource = provider.resource;
  // OpenID Connect asks for a consent where a refresh token is wanted.
  if (provider.scope.split(" ").includes("offline_access")) parameters.prompt = "consent";
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url, pending };
}

/** Leaves for the provider, who sends the person back to `/callback`. */
export async function leaveFor(provider: SignInProvider, returnTo: string): Promise<void> {
  const { url, pending } = await begin(provider, "", returnTo);
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  location.assign(url);
}

/** True for a `/callback` that came back to the page that left. */
export function cameBack(search: string): boolean {
  return !(new URLSearchParams(search).get("state") ?? "").startsWith(BESIDE);
}

/** Ends a sign-in that left the page. Answers where the person was going. */
export async function arrive(provider: SignInProvider, address: URL): Promise<{ grant: Grant; returnTo: string }> {
  const text = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  if (!text) throw new Error("no sign-in was begun in this tab");
  const pending = JSON.parse(text) as Pending;
  return { grant: await exchange(provider, address, pending), returnTo: pending.returnTo };
}

/** In the window beside: hands what the provider said to the page that waits, and closes. */
export function handOver(address: URL): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(address.search);
  channel.close();
  window.close();
}

/**
 * Signs in again in a window beside the page, which stays as it is. Must be called from a click, or the browser lets no
 * window open.
 */
export async function signInBeside(provider: SignInProvider, signal: AbortSignal): Promise<Grant> {
  const opened = window.open("about:blank", "ringi-sign-in", "popup,width=480,height=720");
  if (!opened) throw new Error("the browser let no window open");
  const { url, pending } = await begin(provider, BESIDE, "/");
  const channel = new BroadcastChannel(CHANNEL);
  try {
    const search = await new Promise<string>((resolve, reject) => {
      channel.onmessage = ({ data }) => {
        // Other tabs may be signing in as well: each takes its own answer.
        if (typeof data === "string" && new URLSearchParams(data).get("state") === pending.state) resolve(data);
      };
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      opened.location.href = url.href;
    });
    return await exchange(provider, new URL(`/callback${search}`, location.origin), pending);
  } finally {
    channel.close();
  }
}

async function exchange(provider: SignInProvider, address: URL, pending: Pending): Promise<Grant> {
  const server = await discover(provider);
  const client: oauth.Client = { client_id: provider.client_id };
  const parameters = oauth.validateAuthResponse(server, client, address, pending.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri(),
    pending.verifier,
    { ...options(provider), additionalParameters: provider.resource ? { resource: provider.resource } : {} },
  );
  const openid = provider.scope.split(" ").includes("openid");
  const result = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: openid ? pending.nonce : undefined,
    requireIdToken: openid,
  });
  return grantOf(result);
}

function grantOf(result: oauth.TokenEndpointResponse): Grant {
  const expiresAt =
    result.expires_in === undefined ? expiryOf(result.access_token) : Date.now() + result.expires_in * 1000;
  return { token: result.access_token, refreshToken: result.refresh_token, expiresAt, way: { kind: "provider" } };
}

/** The next token, without asking the person. */
export async function refresh(provider: SignInProvider, grant: Grant): Promise<Grant | undefined> {
  if (!grant.refreshToken) return undefined;
  const server = await discover(provider);
  const client: oauth.Client = { client_id: provider.client_id };
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), grant.refreshToken, {
    ...options(provider),
    additionalParameters: provider.resource ? { resource: provider.resource } : {},
  });
  const next = grantOf(await oauth.processRefreshTokenResponse(server, client, response));
  // A provider that does not rotate leaves the old one in force.
  return { ...next, refreshToken: next.refreshToken ?? grant.refreshToken };
}
