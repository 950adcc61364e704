/** What stands in the fields, and the content that it means. */

import type { Approval } from "../../api/types";
import { editable, parseAmount } from "../../lib/money";
import { LIMITS, lineProblem, paragraphsProblem, sendable } from "../../lib/text";

/** As typed: nothing of it is lost when it makes no sense yet. */
export interface Typed {
  title: string;
  description: string;
  amount: string;
  currency: string;
}

export interface Content {
  title: string;
  description: string;
  amount: number | null;
  currency: string | null;
}

export type FieldName = keyof Typed;
export type Problems = Partial<Record<FieldName, string>>;

export function typedOf(request: Content | Approval | undefined, currency: string): Typed {
  if (!request) return { title: "", description: "", amount: "", currency };
  const { amount } = request;
  return {
    title: request.title,
    description: request.description,
    amount: amount === null || request.currency === null ? "" : editable(amount, request.currency),
    currency: request.currency ?? currency,
  };
}

/** What would be sent, or what is wrong with which field: the server's own rules and codes. */
export function read(typed: Typed): { content: Content } | { problems: Problems } {
  const problems: Problems = {};
  const title = sendable(typed.title);
  const description = sendable(typed.description);
  const wrongTitle = lineProblem(title, LIMITS.title);
  if (wrongTitle) problems.title = wrongTitle;
  const wrongDescription = paragraphsProblem(description, LIMITS.description);
  if (wrongDescription) problems.description = wrongDescription;
  let money: Pick<Content, "amount" | "currency"> = { amount: null, currency: null };
  if (typed.amount.trim() !== "") {
    const parsed = parseAmount(typed.amount, typed.currency);
    if ("problem" in parsed) problems.amount = parsed.problem;
    else money = { amount: parsed.amount, currency: typed.currency };
  }
  return Object.keys(problems).length > 0 ? { problems } : { content: { title, description, ...money } };
}

export function same(a: Content, b: Content): boolean {
  return a.title === b.title && a.description === b.description && a.amount === b.amount && a.currency === b.currency;
}
