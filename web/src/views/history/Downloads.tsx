/** A whole selection as a file. */

import { useState } from "react";
import { api, problemOf } from "../../api/client";
import { NoAnswer } from "../../api/errors";
import type { paths } from "../../api/types";
import { useT } from "../../i18n";
import { destination, save } from "../../lib/download";
import { Button } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { toast } from "../../ui/toasts";

type Query = NonNullable<paths["/api/v1/organizations/{org}/history"]["get"]["parameters"]["query"]>;

const FORMS = { csv: "text/csv", ndjson: "application/x-ndjson" } as const;
type Form = keyof typeof FORMS;

/** What is taken away: the history that matches, or the statement of a month. */
type What = { history: Query } | { statement: string };

function ask(org: string, what: What, form: Form, signal: AbortSignal) {
  const options = { headers: { Accept: FORMS[form] }, parseAs: "stream", signal } as const;
  if ("history" in what) {
    const params = { path: { org }, query: what.history };
    return api.GET("/api/v1/organizations/{org}/history", { params, ...options });
  }
  const params = { path: { org, period: what.statement } };
  return api.GET("/api/v1/organizations/{org}/statements/{period}", { params, ...options });
}

export function Download({ org, what, form }: { org: string; what: What; form: Form }) {
  const t = useT();
  const [running, setRunning] = useState<{ bytes: number; stop: AbortController }>();
  const [error, setError] = useState<unknown>();
  const download = async () => {
    const stop = new AbortController();
    setError(undefined);
    try {
      const name = "history" in what ? "ringi-history" : `ringi-${what.statement}`;
      const sink = await destination(`${name}.${form}`, FORMS[form]);
      setRunning({ bytes: 0, stop });
      const { response, error } = await ask(org, what, form, stop.signal);
      if (!response.ok) {
        await sink.abort();
        throw problemOf(response, error);
      }
      await save(response, sink, (bytes) => setRunning({ bytes, stop }));
      toast(t("download.done"));
    } catch (problem) {
      const left = stop.signal.aborted || (problem instanceof DOMException && problem.name === "AbortError");
      if (!left) setError(problem instanceof TypeError ? new NoAnswer("broke off") : problem);
    }
    setRunning(undefined);
  };
  return (
    <>
      <Button icon="download" disabled={!!running} focusableWhenDisabled onClick={() => void download()}>
        {form.toUpperCase()}
      </Button>
      {running && (
        <>
          <span role="status">{t("download.running", { size: (running.bytes / 1_000_000).toFixed(1) })}</span>
          <Button tone="quiet" onClick={() => running.stop.abort()}>
            {t("sending.stop")}
          </Button>
        </>
      )}
      {error !== undefined && <Failure error={error} title={t("download.failed")} />}
    </>
  );
}

export function Downloads({ org, query }: { org: string; query: Query }) {
  const t = useT();
  return (
    <section className="tool" aria-labelledby="download-title">
      <h2 id="download-title">{t("download.title")}</h2>
      <p className="hint">{t("download.what")}</p>
      <div className="actions">
        <Download org={org} what={{ history: query }} form="csv" />
        <Download org={org} what={{ history: query }} form="ndjson" />
      </div>
    </section>
  );
}
