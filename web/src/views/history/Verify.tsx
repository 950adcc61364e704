/** Recomputes every hash of the history, page by page, and says what came out. */

import { useRef, useState } from "react";
import { api, data } from "../../api/client";
import type { Verified } from "../../api/types";
import { hasSentence, useLanguage } from "../../i18n";
import { Button, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { kindName } from "./names";

type Result = { checked: number; broken: Verified["first_broken"] };

export function Verify({ org }: { org: string }) {
  const { language, t } = useLanguage();
  const [checked, setChecked] = useState<number>();
  const [result, setResult] = useState<Result>();
  const [error, setError] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  const number = (n: number) => n.toLocaleString(language);
  const verify = async () => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setError(undefined);
    setResult(undefined);
    let cursor: string | undefined;
    let all = 0;
    try {
      do {
        setChecked(all);
        const page: Verified = await data(
          api.GET("/api/v1/organizations/{org}/history/verify", {
            params: { path: { org }, query: { cursor } },
            signal,
          }),
        );
        all += page.checked;
        if (!page.whole) {
          setResult({ checked: all, broken: page.first_broken });
          return;
        }
        cursor = page.next_cursor ?? undefined;
      } while (cursor);
      setResult({ checked: all, broken: null });
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    } finally {
      setChecked(undefined);
    }
  };
  const broken = result?.broken;
  const why = broken ? `break.${broken.why}` : "";
  return (
    <section className="tool" aria-labelledby="verify-title">
      <h2 id="verify-title">{t("verify.title")}</h2>
      <p className="hint">{t("verify.what")}</p>
      <div className="actions">
        <Button icon="shield" disabled={checked !== undefined} onClick={() => void verify()}>
          {t("verify.go")}
        </Button>
        {checked !== undefined && (
          <>
            <span role="status">{t("verify.running", { checked: number(checked) })}</span>
            <Button tone="quiet" onClick={() => stop.current?.abort()}>
              {t("sending.stop")}
            </Button>
          </>
        )}
      </div>
      {result && !broken && <Notice kind="good" title={t("verify.whole", { checked: number(result.checked) })} />}
      {broken && (
        <Notice kind="bad" title={t("verify.broken")}>
          <p>
            {t("verify.where", {
              kind: kindName(broken.kind, t),
              id: broken.request_id ?? broken.subject_id ?? "",
              version: broken.version,
            })}
          </p>
          <p>{hasSentence(why) ? t(why) : broken.why}</p>
        </Notice>
      )}
      {error !== undefined && <Failure error={error} retry={() => void verify()} />}
    </section>
  );
}
