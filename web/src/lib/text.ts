/**
 * What the server accepts as text, said before it is sent. Lengths count Unicode scalar values, as there:
 * `"👍".length` is two and `maxlength` counts the same way, so neither can be used.
 */

export const LIMITS = { title: 200, name: 200, description: 10_000, reason: 2_000, query: 200, url: 2_000 } as const;

/** How many Unicode scalar values a text has. */
export function count(text: string): number {
  let n = 0;
  for (const _ of text) n += 1;
  return n;
}

const BLANK = /^[\p{White_Space}\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u;
const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_TAB_AND_LF = /[^\P{Cc}\t\n]/u;

/** True when nobody would see anything. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}

/** The stable codes of a broken rule: the server's own. */
export type TextProblem = "required" | "length" | "blank" | "control_character";

/** A single line, as a title or a name. */
export function lineProblem(text: string, limit: number): TextProblem | undefined {
  if (text === "") return "required";
  if (isBlank(text)) return "blank";
  if (CONTROL.test(text)) return "control_character";
  return count(text) > limit ? "length" : undefined;
}

/** Paragraphs, which may be empty unless a reason is needed. */
export function paragraphsProblem(text: string, limit: number, needed = false): TextProblem | undefined {
  if (needed && text === "") return "required";
  if (needed && isBlank(text)) return "blank";
  if (CONTROL_BUT_TAB_AND_LF.test(text)) return "control_character";
  return count(text) > limit ? "length" : undefined;
}

/** What can be sent: half a surrogate pair, as a cut emoji leaves it, is no text. */
export function sendable(text: string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n").replaceAll("\r", "\n");
}
