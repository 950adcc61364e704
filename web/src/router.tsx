/** The page's addresses. What a list shows is in its address, so that it can be kept, sent around and gone back to. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import names from "../generated/names.json";
import { meQuery, queryClient } from "./api/queries";
import type { Status, View } from "./api/types";
import { NotFound } from "./views/NotFound";
import { loadRequest } from "./views/request/load";
import { RequestsView } from "./views/requests/RequestsView";
import { Shell } from "./views/Shell";
import { Welcome } from "./views/Welcome";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });

/** Where people begin: what waits for them, or what they wait for. */
const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    const me = await queryClient.ensureQueryData(meQuery);
    const membership = me.memberships.find((one) => one.is_active);
    if (!membership) return;
    const view: View = membership.can_approve ? "inbox" : "mine";
    throw redirect({ to: "/o/$org/$view", params: { org: membership.organization_id, view }, replace: true });
  },
  component: Welcome,
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: "/invitation",
  component: lazyRouteComponent(() => import("./views/people/InvitationView"), "InvitationView"),
});

const organization = createRoute({ getParentRoute: () => root, path: "/o/$org", component: Shell });

const text = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) || undefined : undefined;

export interface ListSearch {
  status?: Status;
  q?: string;
  applicant?: string;
  since?: string;
}

const list = createRoute({
  getParentRoute: () => organization,
  path: "$view",
  validateSearch: (search: Record<string, unknown>): ListSearch => {
    const status = names.statuses.find((known) => known === search.status) as Status | undefined;
    return { status, q: text(search.q), applicant: text(search.applicant), since: text(search.since) };
  },
  component: RequestsView,
});

const request = createRoute({
  getParentRoute: () => list,
  path: "$id",
  component: lazyRouteComponent(loadRequest, "RequestView"),
});

const write = createRoute({
  getParentRoute: () => organization,
  path: "write",
  validateSearch: (search: Record<string, unknown>): { id?: string } => ({ id: text(search.id) }),
  component: lazyRouteComponent(() => import("./views/edit/EditView"), "EditView"),
});

const members = createRoute({
  getParentRoute: () => organization,
  path: "members",
  component: lazyRouteComponent(() => import("./views/people/MembersView"), "MembersView"),
});

const webhooks = createRoute({
  getParentRoute: () => organization,
  path: "webhooks",
  component: lazyRouteComponent(() => import("./views/webhooks/WebhooksView"), "WebhooksView"),
});

const webhook = createRoute({
  getParentRoute: () => organization,
  path: "webhooks/$id",
  component: lazyRouteComponent(() => import("./views/webhooks/WebhookView"), "WebhookView"),
});

const mail = createRoute({
  getParentRoute: () => organization,
  path: "mail",
  component: lazyRouteComponent(() => import("./views/mail/MailView"), "MailView"),
});

const months = createRoute({
  getParentRoute: () => organization,
  path: "months",
  component: lazyRouteComponent(() => import("./views/months/MonthsView"), "MonthsView"),
});

const month = createRoute({
  getParentRoute: () => organization,
  path: "months/$period",
  component: lazyRouteComponent(() => import("./views/months/MonthView"), "MonthView"),
});

export interface HistorySearch {
  kind?: string;
  action?: string;
  actor?: string;
  request?: string;
  from?: string;
  to?: string;
}

const history = createRoute({
  getParentRoute: () => organization,
  path: "history",
  validateSearch: (search: Record<string, unknown>): HistorySearch => ({
    kind: names.kinds.find((kind) => kind === search.kind),
    action: names.actions.find((action) => action === search.action),
    actor: text(search.actor),
    request: text(search.request),
    from: text(search.from),
    to: text(search.to),
  }),
  component: lazyRouteComponent(() => import("./views/history/HistoryView"), "HistoryView"),
});

const routeTree = root.addChildren([
  index,
  invitation,
  organization.addChildren([
    list.addChildren([request]),
    write,
    mail,
    months,
    month,
    members,
    webhooks,
    webhook,
    history,
  ]),
]);

export function makeRouter() {
  return createRouter({ routeTree, defaultNotFoundComponent: NotFound, scrollRestoration: false });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
