/** Why this person may not do what he may expect to: the server's answer, in his language. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { eligibilityQuery } from "../../api/queries";
import type { Approval } from "../../api/types";
import { hasSentence, useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { Loading } from "../../ui/parts";
import { Failure } from "../../ui/problems";

export function WhyNot({ request }: { request: Approval }) {
  const t = useT();
  const [open, setOpen] = useState(false);
  const member = useMembership();
  // Only where a button is missing that the person's rights would let him look for.
  if (request.status !== "pending" || !member.can_approve || request.allowed_actions.includes("approve")) return null;
  return (
    <details className="versions" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t("why_not.title")}</summary>
      {open && <Reasons request={request} />}
    </details>
  );
}

function Reasons({ request }: { request: Approval }) {
  const t = useT();
  const eligibility = useQuery(eligibilityQuery(request.organization_id, request.id));
  if (eligibility.isPending) return <Loading lines={2} />;
  if (eligibility.isError) return <Failure error={eligibility.error} retry={() => void eligibility.refetch()} />;
  const asked = ["approve", "reject", "send_back"];
  return (
    <ul className="why-not">
      {eligibility.data.actions
        .filter((one) => asked.includes(one.action) && one.code)
        .map((one) => {
          const key = `problem.${one.code}`;
          return (
            <li key={one.action}>
              <strong>{t(`act.${one.action as "approve" | "reject" | "send_back"}`)}</strong>:{" "}
              {hasSentence(key) ? t(key) : one.detail}
            </li>
          );
        })}
    </ul>
  );
}
