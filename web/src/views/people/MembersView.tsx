/** Who belongs to the organization, and what each may do. For administrators. */

import { Tabs } from "@base-ui/react/tabs";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { membersQuery } from "../../api/queries";
import type { Member } from "../../api/types";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { More } from "../../ui/More";
import { Button, Loading } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Table } from "../../ui/Table";
import { AddMember } from "./AddMember";
import { ChangeMember } from "./ChangeMember";
import { Invitations } from "./Invitations";
import { Invite } from "./Invite";

export function MembersView() {
  const t = useT();
  const [dialog, setDialog] = useState<"invite" | "add">();
  return (
    <main className="view">
      <header className="view-head">
        <h1>{t("view.members")}</h1>
        <div className="actions">
          <Button tone="primary" icon="plus" onClick={() => setDialog("invite")}>
            {t("invite.title")}
          </Button>
          <Button onClick={() => setDialog("add")}>{t("add_member.title")}</Button>
        </div>
      </header>
      <Tabs.Root defaultValue="members">
        <Tabs.List className="tabs" aria-label={t("view.members")}>
          <Tabs.Tab value="members" className="tab">
            {t("members.tab")}
          </Tabs.Tab>
          <Tabs.Tab value="invitations" className="tab">
            {t("invitations.tab")}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="members">
          <Members />
        </Tabs.Panel>
        <Tabs.Panel value="invitations">
          <Invitations />
        </Tabs.Panel>
      </Tabs.Root>
      {dialog === "invite" && <Invite onClose={() => setDialog(undefined)} />}
      {dialog === "add" && <AddMember onClose={() => setDialog(undefined)} />}
    </main>
  );
}

function Members() {
  const t = useT();
  const org = useMembership().organization_id;
  const members = useInfiniteQuery(membersQuery(org));
  const [changing, setChanging] = useState<Member>();
  if (members.isPending) return <Loading lines={5} />;
  if (!members.data) return <Failure error={members.error} retry={() => void members.refetch()} />;
  const all = members.data.pages.flatMap((page) => page.items);
  return (
    <>
      <Table columns={[t("field.name"), t("members.rights"), t("members.state")]} actions narrow="cards">
        {all.map((member) => (
          <tr key={member.user_id} className={member.is_active ? "" : "inactive"}>
            <th scope="row" dir="auto">
              {member.display_name}
            </th>
            <td>
              <Rights member={member} />
            </td>
            <td className="state">{t(member.is_active ? "members.active" : "members.inactive")}</td>
            <td className="cell-actions">
              <Button
                tone="quiet"
                icon="edit"
                onClick={() => setChanging(member)}
                aria-label={t("members.change_named", { name: member.display_name })}
              >
                {t("members.change")}
              </Button>
            </td>
          </tr>
        ))}
      </Table>
      <More query={members} />
      {changing && <ChangeMember key={changing.user_id} member={changing} onClose={() => setChanging(undefined)} />}
    </>
  );
}

export function Rights({ member }: { member: { can_approve: boolean; is_admin: boolean } }) {
  const t = useT();
  if (!member.can_approve && !member.is_admin) return <span className="muted">{t("role.applicant")}</span>;
  return (
    <span className="badges">
      {member.can_approve && <span className="badge right">{t("role.approver")}</span>}
      {member.is_admin && <span className="badge right admin">{t("role.admin")}</span>}
    </span>
  );
}
