/**
 * The endless list. Only what is in sight is in the document, and only some pages are in memory. What others do moves
 * rows above; what the person looks at stays where it is.
 */

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { cursorsOf, type Filters, listKey, listQuery, PAGE_SIZE } from "../../api/queries";
import type { Approval, View } from "../../api/types";
import { useLanguage, useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useKeys } from "../../lib/keys";
import { formatMoney } from "../../lib/money";
import { useMembership } from "../../lib/organization";
import { FIRST, shift } from "../../lib/pages";
import { Empty, Loading, StatusBadge } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { loadRequest } from "../request/load";

/** A row's height, in CSS pixels: the same for all, so that any place in the list can be computed. */
const ROW = 76;

interface Props {
  view: View;
  filters: Filters;
  openId: string | undefined;
  onSearch: () => void;
}

export function RequestList({ view, filters, openId, onSearch }: Props) {
  const t = useT();
  const org = useMembership().organization_id;
  const navigate = useNavigate();
  const query = useInfiniteQuery(listQuery(org, view, filters));
  const { data, hasNextPage, isFetching, fetchNextPage, fetchPreviousPage } = query;
  const scroller = useRef<HTMLDivElement>(null);

  const cursors = cursorsOf(listKey(org, view, filters));
  const rows = useMemo(() => data?.pages.flatMap((page) => page.items) ?? [], [data]);
  // How many rows lie above those that are held.
  const above = cursors.indexOf((data?.pageParams[0] ?? FIRST) as string) * PAGE_SIZE;
  if (data) cursors.take(data.pageParams as string[], data.pages.at(-1)?.next_cursor ?? null);
  const count = above + rows.length + (hasNextPage ? 1 : 0);

  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (n) => rows[n - above]?.id ?? n,
    overscan: 8,
  });
  const items = virtualizer.getVirtualItems();
  useKeepPlace(rows, above, scroller);

  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => {
    if (isFetching) return;
    if (first < above) void fetchPreviousPage();
    else if (hasNextPage && last >= above + rows.length - 10) void fetchNextPage();
  }, [first, last, above, rows.length, hasNextPage, isFetching, fetchNextPage, fetchPreviousPage]);

  const loaded = data !== undefined;
  useEffect(() => {
    if (!loaded) return;
    const timer = setTimeout(() => {
      // Whoever opens one asks again.
      loadRequest().catch(() => undefined);
    }, 300);
    return () => clearTimeout(timer);
  }, [loaded]);

  const [activeId, setActiveId] = useState<string>();
  const active = rows.findIndex((row) => row.id === (openId ?? activeId));
  const openRow = (row: Approval, act?: string) =>
    void navigate({
      to: "/o/$org/$view/$id",
      params: { org, view, id: row.id },
      search: filters,
      state: { act } as object,
    });
  const move = (step: number) => {
    const to = Math.min(Math.max(active + step, 0), rows.length - 1);
    const row = rows[to];
    if (!row) return;
    setActiveId(row.id);
    virtualizer.scrollToIndex(above + to);
    if (openId) openRow(row);
    else requestAnimationFrame(() => document.getElementById(`row-${row.id}`)?.focus());
  };
  const onActive = (act?: string) => () => {
    const row = rows[active];
    if (row && !openId) openRow(row, act);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: openId ? undefined : () => move(1),
    ArrowUp: openId ? undefined : () => move(-1),
    Enter: onActive(),
    a: openId ? undefined : onActive("approve"),
    r: openId ? undefined : onActive("reject"),
    s: openId ? undefined : onActive("send_back"),
    "/": onSearch,
  });

  if (query.isPending) return <Loading lines={7} />;
  if (query.isError && !data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  if (count === 0) return <NothingThere view={view} filters={filters} />;
  return (
    <div className="list-scroll" ref={scroller} data-testid="list">
      {query.isError && <Failure error={query.error} retry={() => void query.refetch()} />}
      <ul className="rows" style={{ height: virtualizer.getTotalSize() }} aria-label={t(`view.${view}`)}>
        {items.map((item) => {
          const row = rows[item.index - above];
          return (
            <li
              key={item.key}
              className="row-place"
              style={{ transform: `translateY(${item.start}px)`, height: ROW }}
              aria-posinset={item.index + 1}
              aria-setsize={hasNextPage ? -1 : count}
            >
              {row ? (
                <Row
                  row={row}
                  view={view}
                  filters={filters}
                  current={row.id === openId}
                  onFocus={() => setActiveId(row.id)}
                />
              ) : (
                <div className="skeleton row-skeleton" />
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** Rows that came or went above must not move what is looked at. At the top, what is new comes into sight. */
function useKeepPlace(rows: readonly Approval[], above: number, scroller: React.RefObject<HTMLDivElement | null>) {
  const before = useRef<{ ids: string[]; above: number }>({ ids: [], above: 0 });
  useLayoutEffect(() => {
    const ids = rows.map((row) => row.id);
    const element = scroller.current;
    const last = before.current;
    if (element && last.ids.length > 0 && last.above === above && element.scrollTop > ROW / 2) {
      const first = Math.max(0, Math.floor(element.scrollTop / ROW) - above);
      const moved = shift(last.ids, ids, first, above);
      if (moved !== 0) element.scrollTop += moved * ROW;
    }
    before.current = { ids, above };
  }, [rows, above, scroller]);
}

function Row({
  row,
  view,
  filters,
  current,
  onFocus,
}: {
  row: Approval;
  view: View;
  filters: Filters;
  current: boolean;
  onFocus: () => void;
}) {
  const { language, t } = useLanguage();
  return (
    <Link
      id={`row-${row.id}`}
      className={`row ${current ? "current" : ""}`}
      aria-current={current ? "true" : undefined}
      to="/o/$org/$view/$id"
      params={{ org: row.organization_id, view, id: row.id }}
      search={filters}
      onFocus={onFocus}
    >
      <span className="row-top">
        <span className="row-title" dir="auto">
          {row.title}
        </span>
        {row.amount !== null && row.currency !== null && (
          <span className="row-amount">{formatMoney(row.amount, row.currency, language)}</span>
        )}
      </span>
      <span className="row-bottom">
        {view !== "mine" && (
          <span className="row-person" dir="auto">
            {row.applicant_name}
          </span>
        )}
        {view === "mine" && row.waiting_for && <span className="row-person">{waiting(row, t)}</span>}
        <Time at={row.submitted_at ?? row.created_at} />
        {view !== "inbox" && <StatusBadge status={row.status} />}
      </span>
    </Link>
  );
}

function waiting(row: Approval, t: ReturnType<typeof useT>): string {
  const { count = 0, members = [] } = row.waiting_for ?? {};
  const name = members[0]?.display_name;
  if (count === 0 || !name) return t("waiting.nobody_short");
  return count === 1 ? t("waiting.one", { name }) : t("waiting.more", { name, count: count - 1 });
}

function NothingThere({ view, filters }: { view: View; filters: Filters }) {
  const t = useT();
  const org = useMembership().organization_id;
  if (Object.values(filters).some(Boolean)) {
    return (
      <Empty title={t("empty.filtered")}>
        <Link to="/o/$org/$view" params={{ org, view }} className="button">
          {t("empty.show_all")}
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title={t(`empty.${view}`)}>
      {view === "mine" && (
        <Link to="/o/$org/write" params={{ org }} className="button primary">
          {t("new_request")}
        </Link>
      )}
    </Empty>
  );
}
