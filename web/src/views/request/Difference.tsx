/** What is different between two states of a request, field by field. */

import { lazy, Suspense } from "react";
import type { Status } from "../../api/types";
import { useLanguage, useT } from "../../i18n";
import { formatMoney } from "../../lib/money";
import { StatusBadge, Written } from "../../ui/parts";

const Words = lazy(() => import("./Words").then((module) => ({ default: module.Words })));

interface Content {
  title: string;
  description: string;
  amount: number | null;
  currency: string | null;
  status?: Status;
}

interface Props {
  before: Content;
  after: Content;
  beforeLabel: string;
  afterLabel: string;
}

export function Difference({ before, after, beforeLabel, afterLabel }: Props) {
  const t = useT();
  const { language } = useLanguage();
  const money = ({ amount, currency }: Content) =>
    amount === null || currency === null ? t("no_amount") : formatMoney(amount, currency, language);
  const sameMoney = before.amount === after.amount && before.currency === after.currency;
  const same = before.title === after.title && before.description === after.description && sameMoney;
  return (
    <div className="difference" role="group" aria-label={t("difference")}>
      <p className="difference-head">
        <span>{beforeLabel}</span> <span aria-hidden="true">→</span> <span>{afterLabel}</span>
      </p>
      <dl>
        {before.status && after.status && before.status !== after.status && (
          <div>
            <dt>{t("field.status")}</dt>
            <dd className="before-after">
              <StatusBadge status={before.status} /> <span aria-hidden="true">→</span>{" "}
              <StatusBadge status={after.status} />
            </dd>
          </div>
        )}
        {before.title !== after.title && <Text label={t("field.title")} before={before.title} after={after.title} />}
        {!sameMoney && (
          <div>
            <dt>{t("field.amount")}</dt>
            <dd className="before-after">
              <del>{money(before)}</del> <span aria-hidden="true">→</span> <ins>{money(after)}</ins>
            </dd>
          </div>
        )}
        {before.description !== after.description && (
          <Text label={t("field.description")} before={before.description} after={after.description} />
        )}
      </dl>
      {same && <p className="hint">{t("difference.same_content")}</p>}
    </div>
  );
}

function Text({ label, before, after }: { label: string; before: string; after: string }) {
  // Until the comparison is there: both, whole.
  const whole = (
    <>
      <del>
        <Written className="paragraphs">{before}</Written>
      </del>
      <ins>
        <Written className="paragraphs">{after}</Written>
      </ins>
    </>
  );
  return (
    <div>
      <dt>{label}</dt>
      <dd className="text-difference" dir="auto">
        <Suspense fallback={whole}>
          <Words before={before} after={after} whole={whole} />
        </Suspense>
      </dd>
    </div>
  );
}
