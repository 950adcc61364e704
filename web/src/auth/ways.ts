/** The ways to a token, and how the next one is got when it ends. */

import { api, data, plain } from "../api/client";
import { meQuery, queryClient, signInQuery } from "../api/queries";
import { expiryOf, type Grant, session } from "./session";

/** As somebody of the demo, which is only there on the person's own machine. */
export async function demoGrant(userId: string): Promise<Grant> {
  const { token, expires_in } = await data(api.POST("/api/v1/sign-in/demo", { body: { user_id: userId } }));
  return { token, expiresAt: Date.now() + expires_in * 1000, way: { kind: "demo", userId } };
}

export function pastedGrant(token: string): Grant {
  const bare = token.trim().replace(/^bearer\s+/i, "");
  return { token: bare, expiresAt: expiryOf(bare), way: { kind: "pasted" } };
}

/**
 * Begins a session, or goes on with the one that ran out. Whose token it is, the server says first: what waits to be
 * sent in the name of one person is never sent with the token of another.
 */
export async function resume(grant: Grant): Promise<void> {
  const headers = { Authorization: `Bearer ${grant.token}` };
  const me = await data(plain.GET("/api/v1/me", { headers }));
  if (session.userId !== undefined && session.userId !== me.user_id) session.signOut();
  queryClient.setQueryData(meQuery.queryKey, me);
  session.signIn(grant, me.user_id);
}

session.renew = async (grant) => {
  if (grant.way.kind === "demo") return demoGrant(grant.way.userId);
  if (grant.way.kind === "pasted") return undefined;
  const { provider } = await queryClient.ensureQueryData(signInQuery);
  if (!provider) return undefined;
  return (await import("./provider")).refresh(provider, grant);
};
