/** Invites somebody. The link is shown once and stands nowhere afterwards. */

import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import { queryClient } from "../../api/queries";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { LIMITS, lineProblem } from "../../lib/text";
import { Copyable } from "../../ui/copy";
import { Modal } from "../../ui/Modal";
import { Button, Field, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { PersonFields } from "./rights";

const HOURS = [24, 72, 168, 720] as const;

export function Invite({ onClose }: { onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [person, setPerson] = useState({ display_name: "", can_approve: false, is_admin: false });
  const [hours, setHours] = useState<number>(168);
  const [tried, setTried] = useState(false);
  const [made, setMade] = useState<{ link?: string; expires_at: string }>();
  const write = useWrite(
    (body: typeof person & { valid_hours: number }, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/invitations", { params: { path: { org }, header: headers }, body, signal }),
    (invitation) => {
      void queryClient.invalidateQueries({ queryKey: ["invitations", org] });
      setMade({ link: invitation.link ?? undefined, expires_at: invitation.expires_at });
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (!lineProblem(person.display_name, LIMITS.name)) void write.send({ ...person, valid_hours: hours });
  };
  if (made) {
    return (
      <Modal title={t("invite.made")} onClose={onClose}>
        {made.link ? (
          <>
            <p>{t("invite.once")}</p>
            <Copyable label={t("invite.link")} text={new URL(made.link, location.origin).href} />
          </>
        ) : (
          // The answer was kept under its key, and a kept answer does not hold the link.
          <Notice kind="warning">{t("invite.link_lost")}</Notice>
        )}
        <p className="hint">
          {t("invite.until")} <Time at={made.expires_at} />
        </p>
        <div className="actions end">
          <Button tone="primary" onClick={onClose}>
            {t("done")}
          </Button>
        </div>
      </Modal>
    );
  }
  return (
    <Modal title={t("invite.title")} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <PersonFields person={person} tried={tried} onChange={setPerson} />
        <Field label={t("invite.valid")}>
          {(ids) => (
            <select {...ids} value={hours} onChange={(event) => setHours(Number(event.target.value))}>
              {HOURS.map((one) => (
                <option key={one} value={one}>
                  {t("invite.days", { count: one / 24 })}
                </option>
              ))}
            </select>
          )}
        </Field>
        {write.error !== undefined && <Failure error={write.error} />}
        <SendOrCancel write={write} onCancel={onClose}>
          {t("invite.go")}
        </SendOrCancel>
      </form>
    </Modal>
  );
}
