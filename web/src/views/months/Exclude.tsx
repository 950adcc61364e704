/** Moves a row that stands in the way to the next open month, with a reason that stays in the history. */

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import { api } from "../../api/client";
import { chargeQuery, closingQuery, queryClient } from "../../api/queries";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { LIMITS, paragraphsProblem, sendable } from "../../lib/text";
import { LongText } from "../../ui/LongText";
import { Modal } from "../../ui/Modal";
import { Failure, violationSentence } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { toast } from "../../ui/toasts";
import { ChargeFacts } from "./ChargeFacts";

export function Exclude({ period, chargeId, onClose }: { period: string; chargeId: string; onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [reason, setReason] = useState("");
  const [tried, setTried] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const charge = useQuery(chargeQuery(org, chargeId));
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
        {charge.data ? <ChargeFacts charge={charge.data} /> : <p className="mono">{chargeId}</p>}
        <LongText
          ref={field}
          label={t("reason.label")}
          limit={LIMITS.reason}
          problem={tried && problem ? violationSentence(problem, t, { max: LIMITS.reason }) : undefined}
          value={reason}
          required
          onChange={setReason}
        />
        {write.error !== undefined && <Failure error={write.error} />}
        <SendOrCancel write={write} onCancel={onClose}>
          {t("exclude.go")}
        </SendOrCancel>
      </form>
    </Modal>
  );
}
