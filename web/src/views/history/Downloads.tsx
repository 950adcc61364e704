/** The whole selection as a file. */

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

export function Downloads({ org, query }: { org: string; query: Query }) {
  const t = useT();
  const [running, setRunning] = useState<{ bytes: number; stop: AbortController }>();
  const [error, setError] = useState<unknown>();
  const download = async (form: keyof typeof FORMS) => {
    const stop = new AbortController();
    setError(undefined);
    try {
      const type = FORMS[form];
      const sink = await destination(`ringi-history.${form}`, type);
      setRunning({ bytes: 0, stop });
      const { response, error } = await api.GET("/api/v1/organizations/{org}/history", {
        params: { path: { org }, query },
        headers: { Accept: type },
        parseAs: "stream",
        signal: stop.signal,
      });
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
    <section className="tool" aria-labelledby="download-title">
      <h2 id="download-title">{t("download.title")}</h2>
      <p className="hint">{t("download.what")}</p>
      <div className="actions">
        <Button icon="download" disabled={!!running} onClick={() => void download("csv")}>
          CSV
        </Button>
        <Button icon="download" disabled={!!running} onClick={() => void download("ndjson")}>
          NDJSON
        </Button>
        {running && (
          <>
            <span role="status">{t("download.running", { size: (running.bytes / 1_000_000).toFixed(1) })}</span>
            <Button tone="quiet" onClick={() => running.stop.abort()}>
              {t("sending.stop")}
            </Button>
          </>
        )}
      </div>
      {error !== undefined && <Failure error={error} title={t("download.failed")} />}
    </section>
  );
}
