/** What is known of webhooks, and every write about one of them. */

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { ApiError } from "../../api/errors";
import { queryClient } from "../../api/queries";
import type { Webhook } from "../../api/types";
import { type Keyed, useWrite, type Write } from "../../api/write";
import type { Cursor } from "../../lib/pages";

export const webhooksQuery = (org: string) =>
  infiniteQueryOptions({
    queryKey: ["webhooks", org],
    initialPageParam: null as Cursor,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.GET("/api/v1/organizations/{org}/webhooks", {
          params: { path: { org }, query: { cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.next_cursor,
    refetchInterval: 15_000,
  });

const on = (org: string, id: string) => ({ path: { org, webhook: id } });

export const webhookQuery = (org: string, id: string) =>
  queryOptions({
    queryKey: ["webhook", org, id],
    queryFn: ({ signal }) =>
      data(api.GET("/api/v1/organizations/{org}/webhooks/{webhook}", { params: on(org, id), signal })),
    // A delivery is no event of its own: while one is under way, it is looked at.
    refetchInterval: ({ state: { data: webhook } }) =>
      webhook?.state === "enabled" && webhook.position < webhook.newest_position ? 2_000 : 15_000,
  });

/** The log of attempts, the latest first. It is another one after each attempt. */
export const deliveriesQuery = (org: string, { id, last_attempt_at }: Webhook) =>
  infiniteQueryOptions({
    queryKey: ["deliveries", org, id, last_attempt_at],
    initialPageParam: null as Cursor,
    queryFn: ({ pageParam, signal }) =>
      data(
        api.GET("/api/v1/organizations/{org}/webhooks/{webhook}/deliveries", {
          params: { ...on(org, id), query: { cursor: pageParam ?? undefined } },
          signal,
        }),
      ),
    getNextPageParam: (last) => last.next_cursor,
  });

/** A webhook as an answer brought it. A secret goes to the dialog that asked for it, and is remembered nowhere. */
export function learnWebhook(org: string, webhook: Webhook): void {
  queryClient.setQueryData(webhookQuery(org, webhook.id).queryKey, { ...webhook, secret: null });
  void queryClient.invalidateQueries({ queryKey: ["webhooks", org] });
}

type Answered = Promise<{ data?: Webhook; response: Response }>;

/** A write on the version that was seen. Whoever is too late sees at once how it stands. */
export function useWebhookWrite<B extends { version: number }>(
  org: string,
  call: (body: B, keyed: Keyed) => Answered,
  onDone: (webhook: Webhook) => void = () => undefined,
): Write<B> {
  return useWrite<B, { data?: Webhook; response: Response }>(
    call,
    (webhook) => {
      learnWebhook(org, webhook);
      onDone(webhook);
    },
    (error) => {
      if (error instanceof ApiError && error.currentWebhook) learnWebhook(org, error.currentWebhook);
    },
  );
}

/** The actions on a webhook, each as its call. */
export function webhookCalls(org: string, id: string) {
  const base = "/api/v1/organizations/{org}/webhooks/{webhook}";
  const params = ({ headers }: Keyed) => ({ ...on(org, id), header: headers });
  return {
    change: (body: { url: string; event_types: Webhook["event_types"]; version: number }, keyed: Keyed) =>
      api.PUT(base, { params: params(keyed), body, signal: keyed.signal }),
    enable: (body: { version: number }, keyed: Keyed) =>
      api.POST(`${base}/enable`, { params: params(keyed), body, signal: keyed.signal }),
    disable: (body: { version: number }, keyed: Keyed) =>
      api.POST(`${base}/disable`, { params: params(keyed), body, signal: keyed.signal }),
    replay: (body: { from_position: number; version: number }, keyed: Keyed) =>
      api.POST(`${base}/replay`, { params: params(keyed), body, signal: keyed.signal }),
    rotate: (body: { overlap_hours: number; version: number }, keyed: Keyed) =>
      api.POST(`${base}/rotate-secret`, { params: params(keyed), body, signal: keyed.signal }),
    remove: ({ version }: { version: number }, { signal }: Keyed) =>
      api.DELETE(base, { params: { ...on(org, id), query: { version } }, signal }),
  };
}
