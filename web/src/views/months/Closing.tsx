/** Closing a month: begin it, see how far it is, and deal with the rows that stand in its way. */

import { Progress } from "@base-ui/react/progress";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import { ApiError } from "../../api/errors";
import { closingQuery, queryClient } from "../../api/queries";
import type { Closing as Stands } from "../../api/types";
import { useWrite } from "../../api/write";
import { hasSentence, useLanguage, useT } from "../../i18n";
import { formatPeriod, Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { count, LIMITS, paragraphsProblem, sendable } from "../../lib/text";
import { Modal } from "../../ui/Modal";
import { Button, Field, Loading, Notice, Written } from "../../ui/parts";
import { Failure, violationSentence } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { toast } from "../../ui/toasts";

export function Closing({ period, onClosed }: { period: string; onClosed: () => void }) {
  const { language, t } = useLanguage();
  const org = useMembership().organization_id;
  const query = useQuery(closingQuery(org, period));
  const [asking, setAsking] = useState(false);
  const state = query.data?.state;
  const told = useRef(onClosed);
  told.current = onClosed;
  useEffect(() => {
    if (state === "closed") told.current();
  }, [state]);
  const start = useWrite(
    (_: null, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/closings/{period}", {
        params: { path: { org, period }, header: headers },
        body: {},
        signal,
      }),
    (closing) => {
      queryClient.setQueryData(closingQuery(org, period).queryKey, closing);
      setAsking(false);
    },
  );
  if (query.isPending) return <Loading lines={3} />;
  if (!query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  const closing = query.data;
  const notOver = start.error instanceof ApiError && start.error.code === "period_not_over";
  return (
    <section className="tool" aria-labelledby="closing-title">
      <h2 id="closing-title">{t("closing.title")}</h2>
      {closing.state === "running" && <Running closing={closing} />}
      {closing.state === "blocked" && <BlockedRows closing={closing} />}
      {closing.state !== "running" && closing.state !== "closed" && (
        <>
          <p className="hint">{t("closing.what")}</p>
          <div className="actions">
            <Button tone="primary" onClick={() => setAsking(true)}>
              {t(closing.state === "blocked" ? "closing.again" : "closing.go")}
            </Button>
          </div>
        </>
      )}
      {asking && (
        <Modal title={t("closing.ask", { month: formatPeriod(period, language) })} onClose={() => setAsking(false)}>
          <p>{t("closing.sure", { count: closing.total - closing.confirmed })}</p>
          {closing.warnings.map((warning) => (
            <Notice key={warning.period} kind="warning">
              {t("closing.earlier_open", { month: formatPeriod(warning.period, language) })}
            </Notice>
          ))}
          {start.error !== undefined && (
            <Failure error={start.error} title={notOver ? t("closing.not_yet") : undefined} />
          )}
          <Sending write={start} />
          <div className="actions end">
            <Button tone="quiet" onClick={() => setAsking(false)}>
              {t("cancel")}
            </Button>
            <Button
              tone="primary"
              disabled={!!start.progress}
              focusableWhenDisabled
              onClick={() => void start.send(null)}
            >
              {t("closing.go")}
            </Button>
          </div>
        </Modal>
      )}
    </section>
  );
}

function Running({ closing }: { closing: Stands }) {
  const { language, t } = useLanguage();
  const number = (n: number) => n.toLocaleString(language);
  const left = closing.seconds_left;
  return (
    <div className="running">
      <Progress.Root
        value={closing.total === 0 ? null : closing.confirmed}
        max={Math.max(1, closing.total)}
        className="progress"
      >
        <Progress.Label className="progress-label">
          {t("closing.confirmed", { done: number(closing.confirmed), total: number(closing.total) })}
        </Progress.Label>
        <Progress.Track className="progress-track">
          <Progress.Indicator className="progress-bar" />
        </Progress.Track>
      </Progress.Root>
      <p className="hint">
        {closing.rows_per_second > 0 && t("closing.speed", { count: number(closing.rows_per_second) })}
        {left !== null && left !== undefined && ` · ${t("closing.left", { count: left })}`}
      </p>
      <p className="hint">
        {closing.holder ? (
          <>
            {t("processing.holder")}: <span className="mono">{closing.holder}</span>
          </>
        ) : (
          t("closing.interrupted")
        )}
      </p>
    </div>
  );
}

function BlockedRows({ closing }: { closing: Stands }) {
  const { t } = useLanguage();
  const [excluding, setExcluding] = useState<string>();
  return (
    <>
      <Notice kind="warning" title={t("closing.blocked", { count: closing.blocked_count })}>
        <p>{t("closing.blocked_why")}</p>
        {closing.finished_at && <Time at={closing.finished_at} />}
      </Notice>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t("closing.charge")}</th>
              <th scope="col">{t("closing.why")}</th>
              <th scope="col">
                <span className="visually-hidden">{t("actions")}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {closing.blocked.map((row) => {
              const key = `blocked.${row.code}`;
              return (
                <tr key={row.charge_id}>
                  <th scope="row" className="mono">
                    {row.charge_id}
                  </th>
                  <td>
                    {hasSentence(key) && <p>{t(key)}</p>}
                    <Written className="muted">{row.detail}</Written>
                  </td>
                  <td className="cell-actions">
                    <Button onClick={() => setExcluding(row.charge_id)}>{t("exclude.title")}</Button>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {excluding && <Exclude period={closing.period} chargeId={excluding} onClose={() => setExcluding(undefined)} />}
    </>
  );
}

function Exclude({ period, chargeId, onClose }: { period: string; chargeId: string; onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [reason, setReason] = useState("");
  const [tried, setTried] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const problem = paragraphsProblem(reason, LIMITS.reason, true);
  const write = useWrite(
    (body: { charge_id: string; reason: string }, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/closings/{period}/exclude", {
        params: { path: { org, period }, header: headers },
        body,
        signal,
      }),
    (closing) => {
      queryClient.setQueryData(closingQuery(org, period).queryKey, closing);
      toast(t("exclude.done"));
      onClose();
    },
    () => void queryClient.invalidateQueries({ queryKey: ["closing", org, period] }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem) field.current?.focus();
    else void write.send({ charge_id: chargeId, reason: sendable(reason) });
  };
  return (
    <Modal title={t("exclude.title")} onClose={onClose} focus={field}>
      <form className="form" onSubmit={submit}>
        <p>{t("exclude.what")}</p>
        <p className="mono">{chargeId}</p>
        <Field
          label={t("reason.label")}
          problem={tried && problem ? violationSentence(problem, t, { max: LIMITS.reason }) : undefined}
          hint={t("characters", { count: count(reason), max: LIMITS.reason })}
        >
          {(ids) => (
            <textarea
              {...ids}
              ref={field}
              dir="auto"
              rows={3}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
        {write.error !== undefined && <Failure error={write.error} />}
        <SendOrCancel write={write} onCancel={onClose}>
          {t("exclude.go")}
        </SendOrCancel>
      </form>
    </Modal>
  );
}
