/** For somebody who is known, but a member of nothing. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { meQuery } from "../api/queries";
import { session } from "../auth/session";
import { useT } from "../i18n";
import { Button, Loading, Notice } from "../ui/parts";
import { Failure } from "../ui/problems";

export function Welcome() {
  const t = useT();
  const me = useQuery(meQuery);
  const navigate = useNavigate();
  const somewhere = me.data?.memberships.some((one) => one.is_active);
  useEffect(() => {
    // Somebody has let this person in meanwhile.
    if (somewhere) void navigate({ to: "/", replace: true });
  }, [somewhere, navigate]);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <h1>{t("welcome.title")}</h1>
        {me.isPending && <Loading lines={2} />}
        {me.isError && <Failure error={me.error} retry={() => void me.refetch()} />}
        {me.data && (
          <>
            <Notice kind="info">{t("welcome.nowhere")}</Notice>
            <p>{t("welcome.id")}</p>
            <p className="mono selectable">{me.data.user_id}</p>
            <div className="actions">
              <Button onClick={() => void me.refetch()}>{t("welcome.again")}</Button>
              <Button tone="quiet" onClick={() => session.signOut()}>
                {t("sign_out")}
              </Button>
            </div>
          </>
        )}
      </div>
    </main>
  );
}
