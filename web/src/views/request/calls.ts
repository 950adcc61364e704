/** The actions on a request, each as its call. */

import { api } from "../../api/client";
import type { Action, Approval } from "../../api/types";
import type { Keyed } from "../../api/write";

/** The actions that a dialog asks about. */
export type Asked = Exclude<Action, "create" | "edit">;

/** Whether a reason is needed, may be given, or is none of it. */
export const REASON: Record<Asked, "needed" | "possible" | "none"> = {
  approve: "possible",
  reject: "needed",
  send_back: "needed",
  withdraw: "possible",
  submit: "none",
};

export interface Decision {
  version: number;
  reason?: string;
}

/** Sends an action on the version that the person saw. */
export function act(request: Approval, action: Asked, body: Decision, keyed: Keyed) {
  const params = { path: { org: request.organization_id, id: request.id }, header: keyed.headers };
  const { signal } = keyed;
  const base = "/api/v1/organizations/{org}/requests/{id}";
  const reason = body.reason ?? "";
  switch (action) {
    case "approve":
      return api.POST(`${base}/approve`, { params, body, signal });
    case "withdraw":
      return api.POST(`${base}/withdraw`, { params, body, signal });
    case "reject":
      return api.POST(`${base}/reject`, { params, body: { ...body, reason }, signal });
    case "send_back":
      return api.POST(`${base}/send-back`, { params, body: { ...body, reason }, signal });
    case "submit":
      return api.POST(`${base}/submit`, { params, body: { version: body.version }, signal });
  }
}
