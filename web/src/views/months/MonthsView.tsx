/** What was spent, month by month: what is still to come, and what is closed and does not change any more. */

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { statementsQuery } from "../../api/queries";
import type { Statements, Total } from "../../api/types";
import { useLanguage, useT } from "../../i18n";
import { formatPeriod, Time } from "../../lib/dates";
import { formatMoney } from "../../lib/money";
import { useMembership } from "../../lib/organization";
import { Empty, Loading } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Table } from "../../ui/Table";
import { Chart, type Column } from "./Chart";

export function MonthsView() {
  const t = useT();
  const org = useMembership().organization_id;
  const statements = useQuery(statementsQuery(org));
  return (
    <main className="view">
      <header className="view-head">
        <h1>{t("view.months")}</h1>
      </header>
      {statements.isPending && <Loading lines={5} />}
      {statements.isError && !statements.data && (
        <Failure error={statements.error} retry={() => void statements.refetch()} />
      )}
      {statements.data && <Months statements={statements.data} org={org} />}
    </main>
  );
}

interface Month {
  period: string;
  closedAt?: string;
  totals: Total[];
}

/** Newest first, as both lists are. */
function together({ upcoming, months }: Statements): Month[] {
  const closed = months.map((month) => ({ period: month.period, closedAt: month.closed_at, totals: month.totals }));
  return [...upcoming, ...closed].sort((a, b) => b.period.localeCompare(a.period));
}

function Months({ statements, org }: { statements: Statements; org: string }) {
  const { language, t } = useLanguage();
  const navigate = useNavigate();
  const { is_admin } = useMembership();
  const months = together(statements);
  const upcoming = statements.upcoming.length > 0;
  const currencies = [...new Set(months.flatMap((month) => month.totals.map((total) => total.currency)))].sort();
  const [chosen, setChosen] = useState<string>();
  if (months.length === 0) return <Empty title={t("months.none")} />;
  const currency = chosen ?? mostUsed(months) ?? "";
  const columns: Column[] = months
    .map((month) => ({
      period: month.period,
      closed: month.closedAt !== undefined,
      total: month.totals.find((total) => total.currency === currency)?.total ?? "0",
    }))
    .reverse();
  return (
    <>
      <section className="tool" aria-labelledby="upcoming-title">
        <h2 id="upcoming-title">{t("months.upcoming_total")}</h2>
        <Totals totals={added(statements.upcoming.flatMap((month) => month.totals))} />
      </section>
      <section className="tool" aria-labelledby="chart-title">
        <div className="view-head">
          <h2 id="chart-title">{t("months.per_month")}</h2>
          {currencies.length > 1 && (
            <label className="inline-label">
              {t("field.currency")}
              <select value={currency} onChange={(event) => setChosen(event.target.value)}>
                {currencies.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            </label>
          )}
        </div>
        <Chart
          columns={columns}
          currency={currency}
          onChoose={(period) => void navigate({ to: "/o/$org/months/$period", params: { org, period } })}
        />
        <p className="legend">
          <span className="swatch upcoming" /> {t("months.upcoming")} <span className="swatch closed" />{" "}
          {t("months.closed")}
        </p>
      </section>
      {is_admin && upcoming && <p className="hint">{t("months.how")}</p>}
      <Table columns={[t("months.month"), t("members.state"), t("months.charges"), t("months.total")]} numbers={2}>
        {months.map((month) => (
          <tr key={month.period}>
            <th scope="row" className="month-name">
              <Link to="/o/$org/months/$period" params={{ org, period: month.period }}>
                {formatPeriod(month.period, language)}
              </Link>
            </th>
            <td>
              {month.closedAt ? (
                <>
                  <span className="badge status-approved">{t("months.closed")}</span> <Time at={month.closedAt} />
                </>
              ) : (
                <span className="badge status-pending">{t("months.upcoming")}</span>
              )}
            </td>
            <td className="number">
              {month.totals.reduce((sum, total) => sum + total.count, 0).toLocaleString(language)}
            </td>
            <td className="number">
              <Totals totals={month.totals} />
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** One total for each currency. They are larger than a number can say. */
function added(totals: Total[]): Total[] {
  const sums = new Map<string, Total>();
  for (const { currency, total, count } of totals) {
    const before = sums.get(currency);
    const sum = BigInt(before?.total ?? 0) + BigInt(total);
    sums.set(currency, { currency, total: sum.toString(), count: (before?.count ?? 0) + count });
  }
  return [...sums.values()].sort((a, b) => a.currency.localeCompare(b.currency));
}

/** The currency that most charges are in is what people mostly want to see. */
function mostUsed(months: Month[]): string | undefined {
  const counts = new Map<string, number>();
  for (const total of months.flatMap((month) => month.totals)) {
    counts.set(total.currency, (counts.get(total.currency) ?? 0) + total.count);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
}

export function Totals({ totals }: { totals: Total[] }) {
  const { language, t } = useLanguage();
  if (totals.length === 0) return <span className="muted">{t("months.nothing")}</span>;
  return (
    <ul className="totals">
      {totals.map((total) => (
        <li key={total.currency}>{formatMoney(total.total, total.currency, language)}</li>
      ))}
    </ul>
  );
}
