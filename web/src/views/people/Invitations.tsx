/** Who was invited, and what became of it. */

import { useInfiniteQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { invitationsQuery, queryClient } from "../../api/queries";
import type { Invitation } from "../../api/types";
import { useWrite } from "../../api/write";
import { useT } from "../../i18n";
import { Time } from "../../lib/dates";
import { useMembership } from "../../lib/organization";
import { More } from "../../ui/More";
import { Empty, Loading } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Sending } from "../../ui/Sending";
import { Table } from "../../ui/Table";
import { Twice } from "../../ui/Twice";
import { toast } from "../../ui/toasts";
import { Rights } from "./MembersView";

export function Invitations() {
  const t = useT();
  const org = useMembership().organization_id;
  const invitations = useInfiniteQuery(invitationsQuery(org));
  if (invitations.isPending) return <Loading lines={4} />;
  if (!invitations.data) return <Failure error={invitations.error} retry={() => void invitations.refetch()} />;
  const all = invitations.data.pages.flatMap((page) => page.items);
  if (all.length === 0) return <Empty title={t("invitations.none")} />;
  return (
    <>
      <Table
        columns={[t("field.name"), t("members.rights"), t("members.state"), t("invitations.expires")]}
        actions
        narrow="cards"
      >
        {all.map((invitation) => (
          <Row key={invitation.id} invitation={invitation} />
        ))}
      </Table>
      <More query={invitations} />
    </>
  );
}

function Row({ invitation }: { invitation: Invitation }) {
  const t = useT();
  const org = useMembership().organization_id;
  const revoke = useWrite(
    (_: null, { headers, signal }) =>
      api.POST("/api/v1/organizations/{org}/invitations/{invitation}/revoke", {
        params: { path: { org, invitation: invitation.id }, header: headers },
        body: {},
        signal,
      }),
    () => {
      void queryClient.invalidateQueries({ queryKey: ["invitations", org] });
      toast(t("invitations.revoked"), invitation.display_name);
    },
    () => void queryClient.invalidateQueries({ queryKey: ["invitations", org] }),
  );
  return (
    <tr className={invitation.state === "open" ? "" : "inactive"}>
      <th scope="row" dir="auto">
        {invitation.display_name}
      </th>
      <td>
        <Rights member={invitation} />
      </td>
      <td>{t(`invitation.${invitation.state}`)}</td>
      <td>
        <Time at={invitation.expires_at} />
      </td>
      <td className="cell-actions">
        {invitation.state === "open" && (
          <Twice sure={t("invitations.revoke_sure")} disabled={!!revoke.progress} onSure={() => void revoke.send(null)}>
            {t("invitations.revoke")}
          </Twice>
        )}
        {revoke.error !== undefined && <Failure error={revoke.error} />}
        <Sending write={revoke} />
      </td>
    </tr>
  );
}
