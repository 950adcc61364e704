/** Goes back to an earlier event, or skips some: from there on everything is sent. */

import { type FormEvent, useState } from "react";
import type { Webhook } from "../../api/types";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { Modal } from "../../ui/Modal";
import { Field } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { toast } from "../../ui/toasts";
import { useWebhookWrite, webhookCalls } from "./queries";

export function Replay({ webhook, from, onClose }: { webhook: Webhook; from: number; onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [typed, setTyped] = useState(String(from));
  const [tried, setTried] = useState(false);
  const write = useWebhookWrite(org, webhookCalls(org, webhook.id).replay, () => {
    toast(t("replay.done"));
    onClose();
  });
  const [oldest, next] = [webhook.oldest_position, webhook.newest_position + 1];
  const plain = typed.normalize("NFKC").trim();
  const wanted = /^\d{1,15}$/.test(plain) ? Number(plain) : Number.NaN;
  const known = wanted >= oldest && wanted <= next;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (known) void write.send({ from_position: wanted, version: webhook.version });
  };
  return (
    <Modal title={t("replay.title")} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>{t("replay.why")}</p>
        <Field
          label={t("replay.from")}
          problem={tried && !known ? t("replay.range", { oldest, next }) : undefined}
          hint={t("replay.hint", { oldest, next })}
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              inputMode="numeric"
              autoComplete="off"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
        {write.error !== undefined && <Failure error={write.error} />}
        <SendOrCancel write={write} onCancel={onClose}>
          {t("replay.go")}
        </SendOrCancel>
      </form>
    </Modal>
  );
}
