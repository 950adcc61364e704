/** What narrows a list. */

import { type RefObject, useEffect, useState } from "react";
import names from "../../../generated/names.json";
import type { Filters as Narrowed } from "../../api/queries";
import type { Counts, Status, View } from "../../api/types";
import { useT } from "../../i18n";
import { count, LIMITS, sendable } from "../../lib/text";
import { Icon } from "../../ui/icons";

/** How long somebody must stop typing before it is searched for. */
const REST = 300;

export function Filters({
  view,
  filters,
  counts,
  searchBox,
  onChange,
}: {
  view: View;
  filters: Narrowed;
  counts: Counts | undefined;
  searchBox: RefObject<HTMLInputElement | null>;
  onChange: (filters: Narrowed) => void;
}) {
  const t = useT();
  const [typed, setTyped] = useState(filters.q ?? "");
  const applied = filters.q ?? "";
  // Back and forward change what is searched for, too.
  const [seen, setSeen] = useState(applied);
  if (seen !== applied) {
    setSeen(applied);
    setTyped(applied);
  }
  const tooLong = count(typed) > LIMITS.query;
  useEffect(() => {
    if (typed === applied || tooLong) return;
    const timer = setTimeout(() => onChange({ ...filters, q: sendable(typed) || undefined }), REST);
    return () => clearTimeout(timer);
  });
  const numbers = view === "inbox" ? undefined : counts?.[view];
  const narrowed = filters.applicant || filters.since;
  return (
    <div className="filters">
      <div className="search">
        <Icon name="search" />
        <input
          ref={searchBox}
          type="search"
          value={typed}
          aria-label={t("search")}
          placeholder={t("search")}
          aria-keyshortcuts="/"
          aria-invalid={tooLong || undefined}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") {
              setTyped("");
              event.currentTarget.blur();
            }
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </div>
      {view !== "inbox" && (
        <select
          aria-label={t("filter.status")}
          value={filters.status ?? ""}
          onChange={(event) =>
            onChange({ ...filters, status: (event.target.value || undefined) as Status | undefined })
          }
        >
          <option value="">{t("filter.every_status")}</option>
          {(names.statuses as Status[]).map((status) => (
            <option key={status} value={status}>
              {t(`status.${status}`)}
              {numbers && ` (${numbers[status]})`}
            </option>
          ))}
        </select>
      )}
      {tooLong && (
        <p className="problem-text" role="alert">
          {t("rule.length", { max: LIMITS.query })}
        </p>
      )}
      {narrowed && (
        <button
          type="button"
          className="chip"
          onClick={() => onChange({ ...filters, applicant: undefined, since: undefined })}
        >
          {t("filter.narrowed")} <Icon name="cross" />
        </button>
      )}
    </div>
  );
}
