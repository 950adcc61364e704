/**
 * Somebody was faster. Says who did what and when, shows what was seen beside what is, keeps what was typed, and asks to
 * look again. Nothing is sent from here.
 */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { learn } from "../../api/queries";
import type { Approval, Current } from "../../api/types";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { Button, Field, Loading, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import type { Asked } from "./calls";
import { Difference } from "./Difference";
import { currentOf, saying, standingQuery } from "./standing";

export function Conflict({
  action,
  seen,
  told,
  reason,
  onReason,
  onLooked,
}: {
  action: Asked;
  seen: Approval;
  told: Current | undefined;
  reason: string | undefined;
  onReason: (reason: string) => void;
  onLooked: (request: Approval) => void;
}) {
  const t = useT();
  const { organization_id: org, id } = seen;
  const [asOf] = useState(() => Date.now());
  const fresh = useQuery(standingQuery(org, id, seen.version, asOf));
  const request = fresh.data?.request;
  useEffect(() => {
    if (request) learn(request);
  }, [request]);
  const current = told ?? (request && currentOf(request, fresh.data?.since.at(-1)));
  return (
    <div className="conflict">
      <Notice kind="warning" title={current && <span dir="auto">{saying(current, t)}</span>}>
        {current && <Time at={current.last_at} />}
        <p>{t("conflict.nothing_done", { action: t(`act.${action}`) })}</p>
      </Notice>
      {fresh.isPending && <Loading lines={3} />}
      {fresh.isError && <Failure error={fresh.error} retry={() => void fresh.refetch()} />}
      {request && (
        <>
          {fresh.data && fresh.data.since.length > 1 && (
            <p className="hint">{t("conflict.more_changes", { count: fresh.data.since.length })}</p>
          )}
          <Difference
            before={seen}
            after={request}
            beforeLabel={t("conflict.seen", { version: seen.version })}
            afterLabel={t("conflict.now", { version: request.version })}
          />
        </>
      )}
      {reason !== undefined && (
        <Field label={t("conflict.kept")} hint={t("conflict.kept_why")}>
          {(ids) => (
            <textarea {...ids} dir="auto" rows={3} value={reason} onChange={(event) => onReason(event.target.value)} />
          )}
        </Field>
      )}
      <div className="actions end">
        <Button tone="primary" disabled={!request} focusableWhenDisabled onClick={() => request && onLooked(request)}>
          {t("conflict.look")}
        </Button>
      </div>
    </div>
  );
}
