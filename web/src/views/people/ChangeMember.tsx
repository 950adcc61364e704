/** Changes a member's name and rights, on the version that was seen. */

import { type FormEvent, useState } from "react";
import { api } from "../../api/client";
import { ApiError } from "../../api/errors";
import { meQuery, queryClient } from "../../api/queries";
import type { Member } from "../../api/types";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { LIMITS, lineProblem } from "../../lib/text";
import { Changed } from "../../ui/Changed";
import { Modal } from "../../ui/Modal";
import { Button } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { SendOrCancel } from "../../ui/SendOrCancel";
import { toast } from "../../ui/toasts";
import { Rights } from "./MembersView";
import { type Person, PersonFields } from "./rights";

export function ChangeMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const [seen, setSeen] = useState(member);
  const [person, setPerson] = useState<Person>(member);
  const [tried, setTried] = useState(false);
  const [forgetting, setForgetting] = useState(false);
  const params = { org, user: member.user_id };
  const saved = (done: string) => (now: Member) => {
    void queryClient.invalidateQueries({ queryKey: ["members", org] });
    void queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
    toast(done, now.display_name);
    onClose();
  };
  const change = useWrite<Person & { version: number }, { data?: Member; response: Response }>(
    (body, { headers, signal }) =>
      api.PUT("/api/v1/organizations/{org}/members/{user}", {
        params: { path: params, header: headers },
        body,
        signal,
      }),
    saved(t("members.changed")),
  );
  const forget = useWrite<{ version: number }, { data?: Member; response: Response }>(
    (body, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/members/{user}/pseudonymize", {
        params: { path: params, header: headers },
        body,
        signal,
      }),
    saved(t("forget.done")),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    const { display_name, is_active, can_approve, is_admin } = person;
    if (!lineProblem(display_name, LIMITS.name))
      void change.send({ version: seen.version, display_name, is_active, can_approve, is_admin });
  };
  const error = change.error ?? forget.error;
  const now = error instanceof ApiError ? error.currentMember : undefined;
  return (
    <Modal title={<span dir="auto">{member.display_name}</span>} onClose={onClose}>
      <form className="form" onSubmit={submit}>
        {now ? (
          <Changed
            title={t("member_conflict.title")}
            onLooked={() => {
              setSeen(now);
              change.clear();
              forget.clear();
            }}
          >
            <p>
              <strong dir="auto">{now.display_name}</strong> <Rights member={now} />{" "}
              {!now.is_active && t("members.inactive")}
            </p>
          </Changed>
        ) : (
          error !== undefined && <Failure error={error} />
        )}
        <PersonFields person={person} tried={tried} onChange={setPerson} />
        <SendOrCancel write={change} held={!!now} onCancel={onClose}>
          {t("members.save")}
        </SendOrCancel>
      </form>
      <details className="versions" open={forgetting} onToggle={(event) => setForgetting(event.currentTarget.open)}>
        <summary>{t("forget.title")}</summary>
        <p>{t("forget.why")}</p>
        <Button
          tone="bad"
          disabled={!!forget.progress || !!now}
          onClick={() => void forget.send({ version: seen.version })}
        >
          {t("forget.go")}
        </Button>
      </details>
    </Modal>
  );
}
