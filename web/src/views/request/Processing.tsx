/** What follows an approval: who is at it, his last sign of life, when another takes over, and what came out. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api } from "../../api/client";
import { changed, processingQuery, queryClient } from "../../api/queries";
import type { Approval, Processing as Stands } from "../../api/types";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { Button, Fact, Loading, Written } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { Twice } from "../../ui/Twice";

export function Processing({ request }: { request: Approval }) {
  const t = useT();
  const { organization_id: org, id } = request;
  const member = useMembership();
  const query = useQuery(processingQuery(org, id));
  const params = { path: { org, id } };
  const seen = () => {
    void queryClient.invalidateQueries({ queryKey: ["processing", org, id] });
    changed(org, id);
  };
  const start = useWrite(
    (_: null, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/requests/{id}/processing", {
        params: { ...params, header: headers },
        body: {},
        signal,
      }),
    seen,
  );
  const cancel = useWrite(
    (_: null, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/requests/{id}/processing/cancel", {
        params: { ...params, header: headers },
        body: {},
        signal,
      }),
    seen,
    seen,
  );
  if (query.isPending) return <Loading lines={2} />;
  if (!query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  const { stands, ahead } = query.data;
  const mayStart = stands.state === "not_started" || stands.state === "failed";
  const mayCancel = member.is_admin && (stands.state === "running" || stands.state === "waiting");
  return (
    <section className="processing" aria-labelledby="processing-title">
      <h2 id="processing-title">
        {t("processing.title")} <span className={`badge job-${stands.state}`}>{t(`job.${stands.state}`)}</span>
      </h2>
      <Facts stands={stands} ahead={ahead} />
      {stands.last_error && (
        <div className="notice warning">
          <p className="notice-title">{t("processing.last_error")}</p>
          <Written className="paragraphs">{stands.last_error}</Written>
        </div>
      )}
      {stands.result !== null && stands.result !== undefined && (
        <details className="versions">
          <summary>{t("processing.result")}</summary>
          <pre className="written code">{JSON.stringify(stands.result, null, 2)}</pre>
        </details>
      )}
      {start.error !== undefined && <Failure error={start.error} />}
      {cancel.error !== undefined && <Failure error={cancel.error} />}
      <Sending write={start} />
      <Sending write={cancel} />
      <div className="actions">
        {mayStart && (
          <Button icon="play" disabled={!!start.progress} focusableWhenDisabled onClick={() => void start.send(null)}>
            {t(stands.state === "failed" ? "processing.again" : "processing.start")}
          </Button>
        )}
        {mayCancel && (
          <Twice
            icon="stop"
            sure={t("processing.cancel_sure")}
            disabled={!!cancel.progress}
            onSure={() => void cancel.send(null)}
          >
            {t("processing.cancel")}
          </Twice>
        )}
      </div>
    </section>
  );
}

function Facts({ stands, ahead }: { stands: Stands; ahead: number }) {
  const t = useT();
  if (stands.state === "not_started") return null;
  return (
    <dl className="facts">
      {stands.attempts > 0 && <Fact label={t("processing.attempts")}>{stands.attempts}</Fact>}
      {stands.holder && (
        <Fact label={t("processing.holder")} mono>
          {stands.holder}
        </Fact>
      )}
      {stands.heartbeat_at && (
        <Fact label={t("processing.heartbeat")}>
          <Ago at={stands.heartbeat_at} ahead={ahead} />
        </Fact>
      )}
      {stands.state === "running" && stands.expires_at && (
        <Fact label={t("processing.takeover")}>
          <Left until={stands.expires_at} ahead={ahead} />
        </Fact>
      )}
      {stands.next_attempt_at && (
        <Fact label={t("processing.next")}>
          <Time at={stands.next_attempt_at} />
        </Fact>
      )}
    </dl>
  );
}

/** The server's time, each second; `ahead`: how far its clock is before this machine's. */
function useNow(ahead: number): number {
  const [now, setNow] = useState(() => Date.now() + ahead);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() + ahead), 1_000);
    return () => clearInterval(timer);
  }, [ahead]);
  return now;
}

function Ago({ at, ahead }: { at: string; ahead: number }) {
  const t = useT();
  const seconds = Math.max(0, Math.round((useNow(ahead) - Date.parse(at)) / 1000));
  return t("seconds_ago", { count: seconds });
}

function Left({ until, ahead }: { until: string; ahead: number }) {
  const t = useT();
  const seconds = Math.max(0, Math.round((Date.parse(until) - useNow(ahead)) / 1000));
  return t("in_seconds", { count: seconds });
}
