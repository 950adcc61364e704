/** The secret that signs, shown this once: the server keeps it sealed and shows it to nobody again. */

import { type FormEvent, useState } from "react";
import type { Webhook } from "../../api/types";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { Copyable } from "../../ui/copy";
import { Modal } from "../../ui/Modal";
import { Button, Field, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { useWebhookWrite, webhookCalls } from "./queries";

export function SecretOnce({ title, secret, onClose }: { title: string; secret: string | null; onClose: () => void }) {
  const t = useT();
  return (
    <Modal title={title} onClose={onClose}>
      {secret ? (
        <>
          <p>{t("webhook.secret_once")}</p>
          <Copyable label={t("webhook.secret")} text={secret} />
        </>
      ) : (
        // The answer was kept under its key, and a kept answer does not hold the secret.
        <Notice kind="warning">{t("webhook.secret_lost")}</Notice>
      )}
      <div className="actions end">
        <Button tone="primary" onClick={onClose}>
          {t("done")}
        </Button>
      </div>
    </Modal>
  );
}

/** For how long the secret before it signs as well, in hours. */
const OVERLAPS = [0, 1, 24, 72, 168] as const;

export function RotateSecret({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [hours, setHours] = useState<number>(24);
  const [made, setMade] = useState<Webhook>();
  const write = useWebhookWrite(org, webhookCalls(org, webhook.id).rotate, setMade);
  if (made) return <SecretOnce title={t("webhook.rotated")} secret={made.secret} onClose={onClose} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void write.send({ overlap_hours: hours, version: webhook.version });
  };
  return (
    <Modal title={t("webhook.rotate")} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <p>{t("webhook.rotate_why")}</p>
        <Field label={t("webhook.overlap")}>
          {(ids) => (
            <select {...ids} value={hours} onChange={(event) => setHours(Number(event.target.value))}>
              {OVERLAPS.map((one) => (
                <option key={one} value={one}>
                  {one === 0 ? t("webhook.overlap_none") : t("webhook.overlap_hours", { count: one })}
                </option>
              ))}
            </select>
          )}
        </Field>
        {write.error !== undefined && <Failure error={write.error} />}
        <SendOrCancel write={write} onCancel={onClose}>
          {t("webhook.rotate_go")}
        </SendOrCancel>
      </form>
    </Modal>
  );
}
