/** What the page reads, and under which names it is remembered. */

import { infiniteQueryOptions, QueryClient, type QueryKey, queryOptions } from "@tanstack/react-query";
import { type Cursor, Cursors, FIRST } from "../lib/pages";
import { api, data } from "./client";
import { ApiError, isPassing } from "./errors";
import type { Approval, Statement, Status, View } from "./types";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => isPassing(error) && failures < 5,
      retryDelay: (failures, error) =>
        (error instanceof ApiError ? error.retryAfter : undefined) ?? Math.min(500 * 2 ** failures, 8_000),
    },
  },
});

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: ({ signal }) => data(api.GET("/api/v1/me", { signal })),
  staleTime: 60_000,
});

export const signInQuery = queryOptions({
  queryKey: ["sign-in"],
  queryFn: ({ signal }) => data(api.GET("/api/v1/sign-in", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const countsQuery = (org: string) =>
  queryOptions({
    queryKey: ["counts", org],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/requests/counts", { params: { path: { org } }, signal })),
  });

/** What narrows a list. All of it stands in the address. */
export interface Filters {
  status?: Status;
  q?: string;
  applicant?: string;
  since?: string;
}

export const PAGE_SIZE = 50;
/** How many pages are held at once: a list of any length takes as much memory as this. */
const PAGES_HELD = 6;

const cursors = new Map<string, Cursors>();

/** The places of a list's pages. */
export function cursorsOf(key: QueryKey): Cursors {
  const name = JSON.stringify(key);
  let found = cursors.get(name);
  if (!found) {
    found = new Cursors();
    cursors.set(name, found);
  }
  return found;
}

export const listKey = (org: string, view: View, filters: Filters) => ["requests", org, view, filters] as const;

export const listQuery = (org: string, view: View, filters: Filters) => {
  const queryKey = listKey(org, view, filters);
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: FIRST,
    queryFn: ({ pageParam, signal }) => {
      const query = {
        view,
        limit: PAGE_SIZE,
        cursor: pageParam || undefined,
        status: filters.status,
        q: filters.q || undefined,
        applicant_id: filters.applicant,
        updated_since: filters.since,
      };
      return data(api.GET("/api/v1/organizations/{org}/requests", { params: { path: { org }, query }, signal }));
    },
    getNextPageParam: (last) => last.next_cursor,
    getPreviousPageParam: (_first, _all, firstParam) => cursorsOf(queryKey).before(firstParam),
    maxPages: PAGES_HELD,
  });
};

const onRequest = (org: string, id: string) => ({ path: { org, id } });

export const requestQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["request", org, id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/requests/{id}", { params: onRequest(org, id), signal })),
  });

export const historyQuery = (org: string, id: string) =>
  infiniteQueryOptions({
    queryKey: ["request-history", org, id],
    initialPageParam: null as Cursor,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.GET("/api/v1/organizations/{org}/requests/{id}/history", {
          params: { ...onRequest(org, id), query: { limit: 200, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.next_cursor,
  });

/** The content as it stood at a version, which never changes. */
export const versionQuery = (org: string, id: string, version: number) =>
  queryOptions({
    queryKey: ["version", org, id, version],
    queryFn: ({ signal }) =>
      data(
        api.GET("/api/v1/organizations/{org}/requests/{id}/versions/{version}", {
          params: { path: { org, id, version } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const eligibilityQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["eligibility", org, id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/requests/{id}/eligibility", { params: onRequest(org, id), signal })),
  });

/** How what follows an approval stands, and how far the server's clock is before this machine's, in milliseconds. */
export const processingQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["processing", org, id],
    queryFn: async ({ signal }) => {
      const call = api.GET("/api/v1/organizations/{org}/requests/{id}/processing", {
        params: onRequest(org, id),
        signal,
      });
      const [stands, { response }] = await Promise.all([data(call), call]);
      const date = Date.parse(response.headers.get("Date") ?? "");
      return { stands, ahead: Number.isNaN(date) ? 0 : date - Date.now() };
    },
    // A heartbeat is no event: while somebody is at it, it is looked at.
    refetchInterval: ({ state }) => {
      const job = state.data?.stands.state;
      return job === "running" || job === "waiting" ? 3_000 : false;
    },
  });

export const statementsQuery = (org: string) =>
  queryOptions({
    queryKey: ["statements", org],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/statements", { params: { path: { org } }, signal })),
  });

/** How the closing of a month stands. A run under way is looked at each second. */
export const closingQuery = (org: string, period: string) =>
  queryOptions({
    queryKey: ["closing", org, period],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/closings/{period}", { params: { path: { org, period } }, signal })),
    refetchInterval: ({ state }) => (state.data?.state === "running" ? 1_000 : false),
  });

export const chargeQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["charge", org, id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/charges/{charge}", { params: { path: { org, charge: id } }, signal })),
    // It is looked at in order to be changed.
    staleTime: 0,
  });

/** A closed month's rows; not found while it is not closed. */
export const statementQuery = (org: string, period: string) =>
  infiniteQueryOptions({
    queryKey: ["statement", org, period],
    initialPageParam: null as Cursor,
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { org, period }, query: { limit: 100, cursor: pageParam ?? undefined } };
      const page = await data(api.GET("/api/v1/organizations/{org}/statements/{period}", { params, signal }));
      // The same call answers text to who accepts another type.
      return page as Statement;
    },
    getNextPageParam: (last) => last.next_cursor,
    staleTime: Number.POSITIVE_INFINITY,
  });

export const membersQuery = (org: string) =>
  infiniteQueryOptions({
    queryKey: ["members", org],
    initialPageParam: null as Cursor,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.GET("/api/v1/organizations/{org}/members", {
          params: { path: { org }, query: { limit: 200, cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.next_cursor,
  });

export const invitationsQuery = (org: string) =>
  infiniteQueryOptions({
    queryKey: ["invitations", org],
    initialPageParam: null as Cursor,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.GET("/api/v1/organizations/{org}/invitations", {
          params: { path: { org }, query: { cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.next_cursor,
  });

/** A request as an answer brought it: shown at once, and everything that depends on it is asked for again. */
export function learn(request: Approval): void {
  const { organization_id: org, id } = request;
  const key = requestQuery(org, id).queryKey;
  const known = queryClient.getQueryData(key);
  // An answer may come later than a newer one.
  if (!known || known.version <= request.version) queryClient.setQueryData(key, request);
  void changed(org, id);
}

/** Reads again what is open of this, and everything else of it when it is opened. Resolves when it was read. */
export function stale(...queryKey: string[]): Promise<void> {
  return queryClient.invalidateQueries({ queryKey });
}

/** Somebody changed something of this request, or nobody knows which. */
export async function changed(org: string, id?: string): Promise<void> {
  const lists = ["counts", "requests", "statements"].map((name) => stale(name, org));
  const own = ["request-history", "eligibility", "processing"].map((name) => stale(name, org, ...(id ? [id] : [])));
  await Promise.all([...lists, ...own]);
}

/** What a person asked for at a moment, and is about that moment. A walk through the history is itself history. */
const OF_A_MOMENT = ["history", "standing", "version"];

/** Anything may have happened. */
export async function refresh(org: string): Promise<void> {
  await queryClient.invalidateQueries({
    predicate: ({ queryKey: [what, of] }) => what === "me" || (of === org && !OF_A_MOMENT.includes(String(what))),
  });
}
