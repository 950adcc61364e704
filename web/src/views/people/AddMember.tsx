/** Adds somebody whose user id is known. */

import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import { queryClient } from "../../api/queries";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { LIMITS, lineProblem } from "../../lib/text";
import { Modal } from "../../ui/Modal";
import { Field } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { toast } from "../../ui/toasts";
import { PersonFields } from "./rights";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function AddMember({ onClose }: { onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [userId, setUserId] = useState("");
  const [person, setPerson] = useState({ display_name: "", is_active: true, can_approve: false, is_admin: false });
  const [tried, setTried] = useState(false);
  const write = useWrite(
    (body: typeof person & { user_id: string }, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/members", { params: { path: { org }, header: headers }, body, signal }),
    (member) => {
      void queryClient.invalidateQueries({ queryKey: ["members", org] });
      toast(t("add_member.done"), member.display_name);
      onClose();
    },
  );
  const known = UUID.test(userId.trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (known && !lineProblem(person.display_name, LIMITS.name))
      void write.send({ ...person, user_id: userId.trim().toLowerCase() });
  };
  return (
    <Modal title={t("add_member.title")} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <Field
          label={t("field.user_id")}
          problem={tried && !known ? t("rule.uuid") : undefined}
          hint={t("add_member.id_hint")}
        >
          {(ids) => (
            <input
              {...ids}
              type="text"
              className="mono"
              autoComplete="off"
              spellCheck={false}
              value={userId}
              onChange={(event) => setUserId(event.target.value)}
            />
          )}
        </Field>
        <PersonFields person={person} tried={tried} onChange={setPerson} />
        {write.error !== undefined && <Failure error={write.error} />}
        <SendOrCancel write={write} onCancel={onClose}>
          {t("add_member.go")}
        </SendOrCancel>
      </form>
    </Modal>
  );
}
