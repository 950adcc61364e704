/** Money: an integer in a currency's minor unit on the wire, a decimal for people. Nothing is ever a float. */

import currencies from "../../generated/currencies.json";

/** The decimals of each currency that the server accepts. */
const DECIMALS: Readonly<Record<string, number>> = currencies;

/** The largest amount: 2^53 - 1. */
export const AMOUNT_MAX = 9_007_199_254_740_991n;

export const CURRENCIES = Object.keys(DECIMALS);

/** How many decimals a currency has; of one that is not known, none are assumed. */
export function decimalsOf(currency: string): number {
  return DECIMALS[currency] ?? 0;
}

/** `48600`, two decimals → `486.00`. Takes the text of an integer, which may be larger than a number can say. */
export function toDecimal(minor: string, decimals: number): string {
  const sign = minor.startsWith("-") ? "-" : "";
  const digits = minor.replace("-", "").padStart(decimals + 1, "0");
  const at = digits.length - decimals;
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, at)}.${digits.slice(at)}`;
}

/** For people: `¥48,600`, `$486.00`. */
export function formatMoney(minor: number | string, currency: string, language: string): string {
  const decimals = decimalsOf(currency);
  const format = new Intl.NumberFormat(language, {
    style: "currency",
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  // A text is formatted digit by digit, where a number would be rounded beyond 2^53.
  return format.format(toDecimal(String(minor), decimals) as `${number}`);
}

export type AmountProblem = "not_a_number" | "decimals" | "range";

/**
 * What a person typed → minor units. Grouping commas and full-width digits are understood; below zero is only what takes
 * something back.
 */
export function parseAmount(
  typed: string,
  currency: string,
  belowZero = false,
): { amount: number } | { problem: AmountProblem } {
  const plain = typed
    .normalize("NFKC")
    .replaceAll(/[\s,_']/g, "")
    .replace("\u2212", "-");
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(plain);
  if (!match) return { problem: "not_a_number" };
  if (match[1] === "-" && !belowZero) return { problem: "range" };
  const decimals = decimalsOf(currency);
  const [, sign, whole = "", fraction = ""] = match;
  if (fraction.replace(/0+$/, "").length > decimals) return { problem: "decimals" };
  const minor = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
  if (minor > AMOUNT_MAX) return { problem: "range" };
  return { amount: sign === "-" ? -Number(minor) : Number(minor) };
}

/** What stands in the field when an amount is edited. */
export function editable(amount: number, currency: string): string {
  return toDecimal(String(amount), decimalsOf(currency));
}
