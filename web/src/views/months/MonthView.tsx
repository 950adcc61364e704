/** One month: while it is open what closing it takes, and once it is closed its rows. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../api/errors";
import { queryClient, statementQuery, statementsQuery } from "../../api/queries";
import type { Statement } from "../../api/types";
import { useLanguage, useT } from "../../i18n";
import { formatPeriod, Time } from "../../lib/dates";
import { formatMoney } from "../../lib/money";
import { useMembership } from "../../lib/organization";
import { Icon } from "../../ui/icons";
import { More } from "../../ui/More";
import { Loading, Written } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Table } from "../../ui/Table";
import { Download } from "../history/Downloads";
import { Closing } from "./Closing";
import { Totals } from "./MonthsView";

export function MonthView() {
  const { language, t } = useLanguage();
  const { organization_id: org, is_admin } = useMembership();
  const { period } = useParams({ from: "/o/$org/months/$period" });
  const statement = useInfiniteQuery(statementQuery(org, period));
  const closed = () => {
    void statement.refetch();
    void queryClient.invalidateQueries({ queryKey: ["statements", org] });
  };
  const first = statement.data?.pages[0];
  // A month that is not closed has no statement yet.
  const told = statement.error instanceof ApiError && statement.error.code === "not_found";
  // While that is asked again it stays as it was: what somebody types in a dialog of an open month must not go away.
  const [knownOpen, setKnownOpen] = useState<string>();
  if (told && knownOpen !== period) setKnownOpen(period);
  const open = told || (statement.isPending && knownOpen === period);
  return (
    <main className="view">
      <Link to="/o/$org/months" params={{ org }} className="button quiet back always">
        <Icon name="left" />
        <span>{t("view.months")}</span>
      </Link>
      <header className="view-head">
        <h1>{formatPeriod(period, language)}</h1>
        {first && <span className="badge status-approved">{t("months.closed")}</span>}
        {open && <span className="badge status-pending">{t("months.upcoming")}</span>}
      </header>
      {statement.isPending && !open && <Loading lines={5} />}
      {statement.isError && !open && <Failure error={statement.error} retry={() => void statement.refetch()} />}
      {open && <Upcoming org={org} period={period} />}
      {open && is_admin && <Closing key={period} period={period} onClosed={closed} />}
      {first && (
        <>
          <Closed statement={first} />
          <section className="tool">
            <div className="actions">
              <Download org={org} what={{ statement: period }} form="csv" />
              <Download org={org} what={{ statement: period }} form="ndjson" />
            </div>
          </section>
          <Rows pages={statement.data?.pages ?? []} />
          <More query={statement} />
        </>
      )}
    </main>
  );
}

function Upcoming({ org, period }: { org: string; period: string }) {
  const t = useT();
  const statements = useQuery(statementsQuery(org));
  const month = statements.data?.upcoming.find((one) => one.period === period);
  return (
    <section className="tool" aria-labelledby="upcoming-title">
      <h2 id="upcoming-title">{t("months.so_far")}</h2>
      <Totals totals={month?.totals ?? []} />
    </section>
  );
}

function Closed({ statement }: { statement: Statement }) {
  const t = useT();
  return (
    <section className="tool" aria-labelledby="closed-title">
      <h2 id="closed-title">{t("months.total")}</h2>
      <Totals totals={statement.totals} />
      <p className="hint">
        {t("months.closed_at")} <Time at={statement.closed_at} />
      </p>
    </section>
  );
}

function Rows({ pages }: { pages: Statement[] }) {
  const { language, t } = useLanguage();
  const org = useMembership().organization_id;
  const rows = pages.flatMap((page) => page.items);
  if (rows.length === 0) return null;
  return (
    <Table columns={[t("history.when"), t("field.description"), t("field.amount")]} numbers={1}>
      {rows.map((row) => (
        <tr key={row.charge_id}>
          <td>
            <Time at={row.occurred_at} />
          </td>
          <td>
            {row.request_id ? (
              <Link to="/o/$org/$view/$id" params={{ org, view: "all", id: row.request_id }}>
                <Written>{row.description ?? row.request_id}</Written>
              </Link>
            ) : (
              <Written>{row.description ?? "–"}</Written>
            )}
          </td>
          <td className="number">{formatMoney(row.amount, row.currency, language)}</td>
        </tr>
      ))}
    </Table>
  );
}
