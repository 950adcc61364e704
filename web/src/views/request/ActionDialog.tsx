/**
 * Asks once more before an action, and takes the reason. When somebody was faster, nothing is sent again by itself: the
 * dialog becomes the conversation about what happened, and keeps what was typed.
 */

import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/errors";
import { learn } from "../../api/queries";
import type { Action, Approval, Current } from "../../api/types";
import { useWrite } from "../../api/write";
import { session } from "../../auth/session";
import { useLanguage, useT } from "../../i18n";
import { drop, keep, kept } from "../../lib/kept";
import { formatMoney } from "../../lib/money";
import { count, LIMITS, paragraphsProblem, sendable } from "../../lib/text";
import { LongText } from "../../ui/LongText";
import { Modal } from "../../ui/Modal";
import { Button, Written } from "../../ui/parts";
import { Failure, violationSentence } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { toast } from "../../ui/toasts";
import { Conflict } from "./Conflict";
import { type Asked, act, type Decision, REASON } from "./calls";

/** The dialog is over: the request as it stands, and whether the person must look at it again. */
export type Decided = (request: Approval, looked: boolean) => void;

interface Props {
  action: Action;
  /** As the person saw it: its version is what is sent. */
  seen: Approval;
  /** As it is known to stand. */
  now: Approval;
  onDone: Decided;
  onClose: () => void;
}

export function ActionDialog({ action, seen, now, onDone, onClose }: Props) {
  const t = useT();
  const asked = action as Asked;
  const user = session.userId ?? "";
  const what = `reason/${seen.organization_id}/${seen.id}`;
  // What is judged is what stood there when the dialog opened, whatever comes in meanwhile.
  const [judged] = useState(seen);
  const [reason, setReason] = useState(() => kept<string>(user, what) ?? "");
  const [told, setTold] = useState<Current>();
  const [tried, setTried] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const send = useRef<HTMLButtonElement>(null);
  const takes = REASON[asked];

  const write = useWrite<Decision, ReturnType<typeof act> extends Promise<infer A> ? A : never>(
    (body, keyed) => act(judged, asked, body, keyed),
    (request) => {
      drop(user, what);
      learn(request);
      toast(t(`done.${asked}`), request.title);
      onDone(request, false);
    },
    (error) => {
      if (error instanceof ApiError && error.current) setTold(error.current);
    },
  );
  useEffect(() => {
    if (takes !== "none") keep(user, what, reason);
  }, [reason, takes, user, what]);

  const problem =
    takes === "none" || (takes === "possible" && reason === "")
      ? undefined
      : paragraphsProblem(reason, LIMITS.reason, true);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (problem) {
      field.current?.focus();
      return;
    }
    const text = sendable(reason);
    void write.send(
      takes === "none" || text === "" ? { version: judged.version } : { version: judged.version, reason: text },
    );
  };

  // The page heard of the change before anything was sent: the same conversation.
  const changed = told !== undefined || (now.version !== judged.version && !write.progress);
  if (changed) {
    return (
      <Modal title={t("conflict.title")} onClose={onClose} wide>
        <Conflict
          action={asked}
          seen={judged}
          told={told}
          reason={takes === "none" ? undefined : reason}
          onReason={setReason}
          onLooked={(request) => onDone(request, true)}
        />
      </Modal>
    );
  }
  const over = count(reason) > LIMITS.reason;
  return (
    <Modal title={t(`ask.${asked}`)} onClose={onClose} focus={takes === "none" ? send : field}>
      <form onSubmit={submit} className="form">
        <Judged request={judged} />
        {takes !== "none" && (
          <LongText
            ref={field}
            label={t(takes === "needed" ? "reason.label" : "reason.label_optional")}
            limit={LIMITS.reason}
            problem={
              (tried || over) && problem
                ? violationSentence(problem, t, { max: LIMITS.reason })
                : serverProblem(write.error, t)
            }
            value={reason}
            rows={4}
            required={takes === "needed"}
            onChange={setReason}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event);
            }}
          />
        )}
        {write.error !== undefined && <Failure error={write.error} />}
        <Sending write={write} />
        <div className="actions end">
          <Button onClick={onClose} tone="quiet">
            {t("cancel")}
          </Button>
          <Button
            ref={send}
            type="submit"
            tone={asked === "reject" ? "bad" : asked === "approve" ? "good" : "primary"}
            disabled={!!write.progress}
            focusableWhenDisabled
          >
            {t(`act.${asked}`)}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function serverProblem(error: unknown, t: ReturnType<typeof useT>): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const violation = error.violations.find((one) => one.pointer === "/reason");
  return violation && violationSentence(violation.code, t, { max: LIMITS.reason });
}

/** What is being decided on, in the very dialog that decides. */
function Judged({ request }: { request: Approval }) {
  const t = useT();
  const { language } = useLanguage();
  return (
    <div className="judged">
      <Written className="judged-title">{request.title}</Written>
      <p>
        <span dir="auto">{request.applicant_name}</span>
        {request.amount !== null && request.currency !== null && (
          <> · {formatMoney(request.amount, request.currency, language)}</>
        )}
        {" · "}
        {t("version", { version: request.version })}
      </p>
    </div>
  );
}
