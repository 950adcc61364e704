/** Where an invitation's link leads. Its token stands behind `#`, so that no server and no log ever sees it. */

import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client";
import { meQuery, queryClient } from "../../api/queries";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { Button, Notice } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Sending } from "../../ui/Sending";

export function InvitationView() {
  const t = useT();
  const navigate = useNavigate();
  const [token] = useState(() => location.hash.slice(1).trim());
  const accept = useWrite(
    (body: { token: string }, { headers, signal }) =>
      api.POST("/api/v1/invitations/accept", { params: { header: headers }, body, signal }),
    async () => {
      await queryClient.invalidateQueries({ queryKey: meQuery.queryKey });
      void navigate({ to: "/", replace: true });
    },
  );
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <h1>{t("invitation.title")}</h1>
        <p className="lead">{t("invitation.lead")}</p>
        {token === "" && <Notice kind="bad">{t("invitation.no_token")}</Notice>}
        {accept.error !== undefined && <Failure error={accept.error} />}
        <Sending write={accept} />
        <div className="actions">
          <Button
            tone="primary"
            disabled={token === "" || !!accept.progress}
            focusableWhenDisabled
            onClick={() => void accept.send({ token })}
          >
            {t("invitation.accept")}
          </Button>
          <Button tone="quiet" onClick={() => void navigate({ to: "/" })}>
            {t("invitation.later")}
          </Button>
        </div>
      </div>
    </main>
  );
}
