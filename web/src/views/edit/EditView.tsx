/** Writing a request: a new one, or one that is a draft or came back. */

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { requestQuery } from "../../api/queries";
import type { Approval } from "../../api/types";
import { useT } from "../../i18n";
import { useMembership } from "../../lib/organization";
import { Empty, Loading } from "../../ui/parts";
import { Failure } from "../../ui/problems";
import { Editor } from "./Editor";

export function EditView() {
  const { id } = useSearch({ from: "/o/$org/write" });
  // A draft gets its id while it is written: that must not begin the editor anew.
  const [begun, setBegun] = useState<{ id: string | undefined; made?: string }>({ id });
  if (id !== begun.id && id !== begun.made) setBegun({ id });
  const org = useMembership().organization_id;
  const navigate = useNavigate();
  const made = (request: Approval) => {
    setBegun((before) => ({ ...before, made: request.id }));
    void navigate({
      to: "/o/$org/write",
      params: { org },
      search: { id: request.id },
      replace: true,
      ignoreBlocker: true,
    });
  };
  return <Loaded key={begun.id ?? "new"} id={begun.id} onMade={made} />;
}

function Loaded({ id, onMade }: { id: string | undefined; onMade: (request: Approval) => void }) {
  const t = useT();
  const org = useMembership().organization_id;
  const request = useQuery({ ...requestQuery(org, id ?? ""), enabled: id !== undefined });
  if (id === undefined) return <Editor onMade={onMade} />;
  if (request.isPending) return <Loading lines={5} />;
  if (!request.data)
    return <Failure error={request.error} title={t("request.not_shown")} retry={() => void request.refetch()} />;
  if (!request.data.allowed_actions.includes("edit")) {
    return <Empty main title={t("edit.not_now")} />;
  }
  return <Editor request={request.data} onMade={onMade} />;
}
