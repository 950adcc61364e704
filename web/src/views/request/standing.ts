/** How a request stands at this moment, and who brought it there, for the one who looked at an older state. */

import { queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import type { Approval, Current, HistoryEntry } from "../../api/types";
import { session } from "../../auth/session";
import type { Translate } from "../../i18n";

/** As it is, not as it was remembered, with what happened after the version that was seen. */
export const standingQuery = (org: string, id: string, seen: number, asOf: number) =>
  queryOptions({
    queryKey: ["standing", org, id, seen, asOf],
    queryFn: async ({ signal }) => {
      const path = { org, id };
      const request = await data(api.GET("/api/v1/organizations/{org}/requests/{id}", { params: { path }, signal }));
      const since: HistoryEntry[] = [];
      let cursor: string | undefined;
      do {
        const page = await data(
          api.GET("/api/v1/organizations/{org}/requests/{id}/history", {
            params: { path, query: { limit: 200, cursor } },
            signal,
          }),
        );
        since.push(...page.items.filter((entry) => entry.version > seen));
        cursor = page.next_cursor ?? undefined;
      } while (cursor);
      return { request, since };
    },
    gcTime: 0,
  });

/** What the server says in a conflict, put together from what the page knows. */
export function currentOf(request: Approval, last: HistoryEntry | undefined): Current | undefined {
  return (
    last && {
      version: request.version,
      status: request.status,
      last_action: last.action,
      last_actor_id: last.actor_id,
      last_actor_name: last.actor_name,
      last_at: last.occurred_at,
    }
  );
}

/** Who did what: also when it was the person himself, in another tab. */
export function saying(current: Current, t: Translate): string {
  const own = current.last_actor_id === session.userId;
  return t(own ? `conflict.you_${current.last_action}` : `conflict.they_${current.last_action}`, {
    name: current.last_actor_name,
  });
}
