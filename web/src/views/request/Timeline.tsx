/** Everything that happened to a request, the latest first. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { historyQuery } from "../../api/queries";
import type { Action, HistoryEntry } from "../../api/types";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { Icon, type IconName } from "../../ui/icons";
import { Button, Loading, Written } from "../../ui/parts";
import { Failure } from "../../ui/problems";

const ICONS: Record<Action, IconName> = {
  create: "plus",
  edit: "edit",
  submit: "send",
  approve: "check",
  reject: "cross",
  send_back: "back",
  withdraw: "withdraw",
};

export function Timeline({ org, id, version }: { org: string; id: string; version: number }) {
  const t = useT();
  const history = useInfiniteQuery(historyQuery(org, id));
  const entries = history.data?.pages.flatMap((page) => page.items) ?? [];
  const known = entries.at(-1)?.version ?? 0;
  const { refetch, hasNextPage, isFetching } = history;
  useEffect(() => {
    // The request is newer than what is known of its history.
    if (known > 0 && known < version && !hasNextPage && !isFetching) void refetch();
  }, [known, version, hasNextPage, isFetching, refetch]);
  if (history.isPending) return <Loading lines={3} />;
  if (history.isError && entries.length === 0) return <Failure error={history.error} retry={() => void refetch()} />;
  const shown = group(entries).reverse();
  return (
    <>
      {hasNextPage && (
        <Button onClick={() => void history.fetchNextPage()} disabled={history.isFetchingNextPage}>
          {t("timeline.later")}
        </Button>
      )}
      <ol className="timeline" reversed>
        {shown.map((entry) => (
          <li key={entry.version} className={`event event-${entry.action}`}>
            <span className="event-icon">
              <Icon name={ICONS[entry.action]} />
            </span>
            <div>
              <p className="event-head">
                <span dir="auto">{t(`did.${entry.action}`, { name: entry.actor_name })}</span>
                <span className="event-when">
                  <Time at={entry.occurred_at} /> · {t("version", { version: entry.version })}
                  {entry.times > 1 && ` · ${t("timeline.times", { count: entry.times })}`}
                </span>
              </p>
              {entry.reason !== null && (
                <blockquote>
                  <Written className="paragraphs">{entry.reason}</Written>
                </blockquote>
              )}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

/** Drafts are saved while they are written: edits of one person in a row are one line. */
function group(entries: HistoryEntry[]): (HistoryEntry & { times: number })[] {
  const grouped: (HistoryEntry & { times: number })[] = [];
  for (const entry of entries) {
    const last = grouped.at(-1);
    if (last?.action === "edit" && entry.action === "edit" && last.actor_id === entry.actor_id) {
      grouped[grouped.length - 1] = { ...entry, times: last.times + 1 };
    } else {
      grouped.push({ ...entry, times: 1 });
    }
  }
  return grouped;
}
