/** Everything that happened in the organization, for administrators: to look through, to take away, to prove. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import names from "../../../generated/names.json";
import { api, data } from "../../api/client";
import { membersQuery } from "../../api/queries";
import type { OrganizationHistoryEntry, OrganizationHistoryPage, paths } from "../../api/types";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import type { Cursor } from "../../lib/pages";
import { endOfDay, startOfDay } from "../../lib/zones";
import type { HistorySearch } from "../../router";
import { More } from "../../ui/More";
import { Empty, Loading, Written } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Table } from "../../ui/Table";
import { Downloads } from "./Downloads";
import { actionName, kindName } from "./names";
import { Verify } from "./Verify";

type Query = NonNullable<paths["/api/v1/organizations/{org}/history"]["get"]["parameters"]["query"]>;

/** The filters in the address, as the call takes them. Days are the organization's. */
export function toQuery(search: HistorySearch, timeZone: string): Query {
  return {
    kind: search.kind as Query["kind"],
    action: search.action as Query["action"],
    actor_id: search.actor,
    request_id: search.request,
    from: search.from && startOfDay(search.from, timeZone),
    to: search.to && endOfDay(search.to, timeZone),
  };
}

export function HistoryView() {
  const t = useT();
  const { organization_id: org, time_zone } = useMembership();
  const search = useSearch({ from: "/o/$org/history" });
  const query = toQuery(search, time_zone);
  return (
    <main className="view">
      <header className="view-head">
        <h1>{t("view.history")}</h1>
      </header>
      <p className="hint">{t("history.traced")}</p>
      <div className="history-tools">
        <Downloads org={org} query={query} />
        <Verify org={org} />
      </div>
      <Narrow search={search} />
      <Rows key={JSON.stringify(search)} org={org} query={query} />
    </main>
  );
}

function Narrow({ search }: { search: HistorySearch }) {
  const t = useT();
  const org = useMembership().organization_id;
  const navigate = useNavigate();
  const members = useInfiniteQuery(membersQuery(org)).data?.pages.flatMap((page) => page.items) ?? [];
  const change = (next: Partial<HistorySearch>) =>
    void navigate({ to: "/o/$org/history", params: { org }, search: { ...search, ...next }, replace: true });
  const select = (name: "kind" | "action" | "actor", label: string, options: [string, string][]) => (
    <label>
      {label}
      <select value={search[name] ?? ""} onChange={(event) => change({ [name]: event.target.value || undefined })}>
        <option value="">{t("history.any")}</option>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  const day = (name: "from" | "to", label: string) => (
    <label>
      {label}
      <input
        type="date"
        value={search[name] ?? ""}
        onChange={(event) => change({ [name]: event.target.value || undefined })}
      />
    </label>
  );
  return (
    <div className="narrow-row">
      {select(
        "kind",
        t("history.kind"),
        names.kinds.map((kind) => [kind, kindName(kind, t)]),
      )}
      {select(
        "action",
        t("history.action"),
        names.actions.map((action) => [action, actionName(action, t)]),
      )}
      {select(
        "actor",
        t("history.actor"),
        members.map((member) => [member.user_id, member.display_name]),
      )}
      {day("from", t("history.from"))}
      {day("to", t("history.to"))}
      {search.request && (
        <button type="button" className="chip" onClick={() => change({ request: undefined })}>
          {t("history.one_request")}
        </button>
      )}
    </div>
  );
}

function Rows({ org, query }: { org: string; query: Query }) {
  const t = useT();
  const [asked] = useState(() => Date.now());
  const rows = useInfiniteQuery({
    queryKey: ["history", org, query, asked],
    initialPageParam: null as Cursor,
    queryFn: async ({ pageParam, signal }) => {
      const params = { path: { org }, query: { ...query, limit: 100, cursor: pageParam ?? undefined } };
      const page = await data(api.GET("/api/v1/organizations/{org}/history", { params, signal }));
      // The same call answers text to who accepts another type.
      return page as OrganizationHistoryPage;
    },
    getNextPageParam: (last) => last.next_cursor,
    // Each walk leaves its trace: nothing is asked for again without somebody wanting it.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (rows.isPending) return <Loading lines={6} />;
  if (!rows.data) return <Failure error={rows.error} retry={() => void rows.refetch()} />;
  const all = rows.data.pages.flatMap((page) => page.items);
  if (all.length === 0) return <Empty title={t("history.none")} />;
  return (
    <>
      <Table columns={[t("history.when"), t("history.who"), t("history.what"), t("history.on")]} narrow="wide">
        {all.map((row) => (
          <tr key={`${row.kind}/${row.request_id ?? row.subject_id}/${row.version}`}>
            <td>
              <Time at={row.occurred_at} />
            </td>
            <td dir="auto">{row.actor_name}</td>
            <td>
              {actionName(row.action, t, row.kind)}
              {row.reason && <Written className="paragraphs muted">{row.reason}</Written>}
            </td>
            <td>
              <Subject row={row} org={org} />
            </td>
          </tr>
        ))}
      </Table>
      <More query={rows} />
    </>
  );
}

function Subject({ row, org }: { row: OrganizationHistoryEntry; org: string }) {
  const t = useT();
  if (row.request_id) {
    return (
      <Link to="/o/$org/$view/$id" params={{ org, view: "all", id: row.request_id }}>
        {t("history.request", { id: row.request_id.slice(-8), version: row.version })}
      </Link>
    );
  }
  return (
    <details className="row-detail">
      <summary>{kindName(row.kind, t)}</summary>
      <pre className="written">{JSON.stringify({ subject_id: row.subject_id, ...row.detail }, null, 1)}</pre>
    </details>
  );
}
