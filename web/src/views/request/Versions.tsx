/** The difference between any two versions of the content. */

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { historyQuery, versionQuery } from "../../api/queries";
import type { Approval } from "../../api/types";
import { useT } from "../../i18n";
import { Loading } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Difference } from "./Difference";

export function Versions({ request }: { request: Approval }) {
  const t = useT();
  const [open, setOpen] = useState(false);
  if (request.version < 2) return null;
  return (
    <details className="versions" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("versions.title")}</summary>
      {open && <Compare request={request} />}
    </details>
  );
}

function Compare({ request }: { request: Approval }) {
  const t = useT();
  const { organization_id: org, id, version } = request;
  const history = useInfiniteQuery(historyQuery(org, id));
  const entries = history.data?.pages.flatMap((page) => page.items) ?? [];
  // Where the content changed last, beside how it is now, is what people mostly want to see.
  const hashes = entries.map((entry) => entry.content_hash);
  const lastOther = entries.findLast((entry) => entry.content_hash !== hashes.at(-1));
  const [from, setFrom] = useState<number>();
  const [to, setTo] = useState<number>();
  const chosenFrom = from ?? lastOther?.version ?? 1;
  const chosenTo = to ?? version;
  const before = useQuery(versionQuery(org, id, chosenFrom));
  const after = useQuery(versionQuery(org, id, chosenTo));
  const select = (label: string, value: number, onChange: (version: number) => void) => (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(Number(event.target.value))}>
        {entries.map((entry) => (
          <option key={entry.version} value={entry.version}>
            {t("versions.option", {
              version: entry.version,
              what: t(`did.${entry.action}`, { name: entry.actor_name }),
            })}
          </option>
        ))}
      </select>
    </label>
  );
  const error = before.error ?? after.error;
  return (
    <div className="compare">
      <div className="compare-choice">
        {select(t("versions.from"), chosenFrom, setFrom)}
        {select(t("versions.to"), chosenTo, setTo)}
      </div>
      {error && <Failure error={error} />}
      {before.data && after.data ? (
        <Difference
          before={before.data}
          after={after.data}
          beforeLabel={t("version", { version: chosenFrom })}
          afterLabel={t("version", { version: chosenTo })}
        />
      ) : (
        !error && <Loading lines={2} />
      )}
    </div>
  );
}
