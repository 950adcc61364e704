/** Failures, in words that say what to do. */

import { ApiError, NoAnswer, SignedOut } from "../api/errors";
import { hasSentence, type Translate, useT } from "../i18n";
import { Button, Notice } from "./parts";

/** The sentence for a failure. A code that is newer than this page is told in the server's words. */
export function sentence(error: unknown, t: Translate): string {
  if (error instanceof ApiError) {
    const key = `problem.${error.code}`;
    if (hasSentence(key)) return t(key);
    return error.problem.detail || t("problem.unreadable");
  }
  if (error instanceof NoAnswer) return t("problem.no_answer");
  if (error instanceof SignedOut) return t("problem.unauthenticated");
  return t("problem.fault");
}

/** The sentence for a broken rule of a field. */
export function violationSentence(code: string, t: Translate, values?: Record<string, string | number>): string {
  const key = `rule.${code}`;
  return hasSentence(key) ? t(key, values) : t("rule.other");
}

/** A failure in its place, with a way to try again where that can help. */
export function Failure({ error, retry, title }: { error: unknown; retry?: () => void; title?: string }) {
  const t = useT();
  const id = error instanceof ApiError ? error.problem.request_id : "";
  return (
    <Notice kind="bad" title={title} actions={retry && <Button onClick={retry}>{t("try_again")}</Button>}>
      <p>{sentence(error, t)}</p>
      {id && error instanceof ApiError && error.status >= 500 && <p className="hint">{t("problem.report", { id })}</p>}
    </Notice>
  );
}
