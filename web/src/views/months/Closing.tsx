/** Closing a month: begin it, and see how far it is. */

import { Progress } from "@base-ui/react/progress";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api } from "../../api/client";
import { ApiError } from "../../api/errors";
import { closingQuery, queryClient } from "../../api/queries";
import type { Closing as Stands } from "../../api/types";
import { useWrite } from "../../api/write";
import { useLanguage } from "../../i18n";
import { formatPeriod } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { Modal } from "../../ui/Modal";
import { Button, Loading, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { BlockedRows } from "./BlockedRows";

/** So many charges of an open month are counted at most. */
const MANY = 100_000;

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
  const sure = () => {
    // Of a month that nobody began to close no more are counted than that.
    if (closing.state === "open" && closing.total >= MANY) return t("closing.sure_many", { count: MANY });
    return t("closing.sure", { count: closing.total - closing.confirmed });
  };
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
          <p>{sure()}</p>
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
