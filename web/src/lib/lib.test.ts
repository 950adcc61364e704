import { describe, expect, test } from "vitest";
import { formatTime } from "./dates";
import { editable, formatMoney, parseAmount, toDecimal } from "./money";
import { Cursors, FIRST, shift } from "./pages";
import { count, isBlank, lineProblem, paragraphsProblem, sendable } from "./text";
import { words } from "./words";
import { endOfDay, startOfDay } from "./zones";

describe("text is judged as the server judges it", () => {
  test("lengths are counted in scalar values", () => {
    expect(count("👍🏽")).toBe(2);
    expect(count("稟議")).toBe(2);
    expect(lineProblem("👍".repeat(200), 200)).toBeUndefined();
    expect(lineProblem("👍".repeat(201), 200)).toBe("length");
  });
  test("what nobody can see is blank", () => {
    for (const blank of [" ", "\u3000", "\u200b\u200d\ufeff", "\u2060\t\n", "\u00ad", "\u3164"])
      expect(isBlank(blank)).toBe(true);
    for (const visible of ["a", " a ", "稟議", "\u200bx"]) expect(isBlank(visible)).toBe(false);
    expect(lineProblem("", 200)).toBe("required");
    expect(lineProblem("\u200b", 200)).toBe("blank");
  });
  test("a line has no line break, paragraphs do, and neither has other control characters", () => {
    expect(lineProblem("a\nb", 200)).toBe("control_character");
    expect(paragraphsProblem("a\n\tb", 200)).toBeUndefined();
    expect(paragraphsProblem("a\u0007b", 200)).toBe("control_character");
    expect(paragraphsProblem("", 200)).toBeUndefined();
    expect(paragraphsProblem("", 200, true)).toBe("required");
  });
  test("half a surrogate pair is mended, and line ends are one", () => {
    expect(sendable("a\ud83d")).toBe("a\ufffd");
    expect(sendable("a\r\nb\rc")).toBe("a\nb\nc");
  });
});

describe("money is never a float", () => {
  test("minor units and decimals", () => {
    expect(toDecimal("48600", 0)).toBe("48600");
    expect(toDecimal("5", 2)).toBe("0.05");
    expect(toDecimal("-5", 2)).toBe("-0.05");
    expect(toDecimal("1234567", 3)).toBe("1234.567");
  });
  test("what people type is understood", () => {
    expect(parseAmount("1,200", "JPY")).toEqual({ amount: 1200 });
    expect(parseAmount(" １２００ ", "JPY")).toEqual({ amount: 1200 });
    expect(parseAmount("1200.5", "USD")).toEqual({ amount: 120050 });
    expect(parseAmount("0.1", "USD")).toEqual({ amount: 10 });
    expect(parseAmount("12.", "USD")).toEqual({ amount: 1200 });
    expect(parseAmount("1.2345", "KWD")).toEqual({ problem: "decimals" });
    expect(parseAmount("1.5", "JPY")).toEqual({ problem: "decimals" });
    expect(parseAmount("1.0", "JPY")).toEqual({ amount: 1 });
    expect(parseAmount("-3", "JPY")).toEqual({ problem: "range" });
    // What takes a charge back is below zero; people paste a minus sign, too.
    expect(parseAmount("-1,200.50", "USD", true)).toEqual({ amount: -120050 });
    expect(parseAmount("\u2212３", "JPY", true)).toEqual({ amount: -3 });
    expect(parseAmount("many", "JPY")).toEqual({ problem: "not_a_number" });
    expect(parseAmount("9007199254740991", "JPY")).toEqual({ amount: 9007199254740991 });
    expect(parseAmount("9007199254740992", "JPY")).toEqual({ problem: "range" });
  });
  test("what is shown is exact, beyond what a number can say, too", () => {
    expect(formatMoney("9223372036854775809", "JPY", "en")).toBe("¥9,223,372,036,854,775,809");
    expect(formatMoney("9007199254740993", "USD", "en")).toBe("$90,071,992,547,409.93");
    expect(formatMoney(48600, "JPY", "ja")).toBe("￥48,600");
    // ISO 4217 says three decimals, where some tables of browsers say none.
    expect(formatMoney(1000, "IQD", "en")).toMatch(/1\.000$/);
  });
  test("what is edited reads back as the same", () => {
    for (const [amount, currency] of [
      [189900, "USD"],
      [48600, "JPY"],
      [5, "KWD"],
    ] as const) {
      expect(parseAmount(editable(amount, currency), currency)).toEqual({ amount });
    }
  });
});

describe("a window of an endless list", () => {
  test("moves forwards and back over the same pages", () => {
    const cursors = new Cursors();
    cursors.take([FIRST], "b");
    cursors.take([FIRST, "b"], "c");
    // The first page was let go.
    cursors.take(["b", "c"], "d");
    expect(cursors.indexOf("b")).toBe(1);
    expect(cursors.before("b")).toBe(FIRST);
    expect(cursors.before("c")).toBe("b");
    expect(cursors.before(FIRST)).toBeUndefined();
  });
  test("a page that changed makes the ones after it anew", () => {
    const cursors = new Cursors();
    cursors.take([FIRST, "b", "c"], "d");
    cursors.take([FIRST, "b2"], "c2");
    expect(cursors.known).toEqual([FIRST, "b2", "c2"]);
  });
  test("the row in sight stays in sight", () => {
    const before = ["a", "b", "c", "d"];
    expect(shift(before, ["x", "a", "b", "c", "d"], 1, 0)).toBe(1);
    expect(shift(before, ["b", "c", "d"], 1, 0)).toBe(-1);
    expect(shift(before, before, 2, 0)).toBe(0);
    // The row itself is gone: the next one stands for it, one place up.
    expect(shift(before, ["a", "c", "d"], 1, 0)).toBe(-1);
    expect(shift(before, [], 1, 0)).toBe(0);
  });
});

test("days are those of the organization's clocks", () => {
  expect(startOfDay("2026-10-31", "Asia/Tokyo")).toBe("2026-10-30T15:00:00.000Z");
  expect(endOfDay("2026-10-31", "Asia/Tokyo")).toBe("2026-10-31T15:00:00.000Z");
  // The clocks of Berlin are set back in this night.
  expect(startOfDay("2026-10-25", "Europe/Berlin")).toBe("2026-10-24T22:00:00.000Z");
  expect(endOfDay("2026-10-25", "Europe/Berlin")).toBe("2026-10-25T23:00:00.000Z");
  expect(startOfDay("2026-01-01", "Pacific/Kiritimati")).toBe("2025-12-31T10:00:00.000Z");
  expect(startOfDay("soon", "UTC")).toBe("");
});

test("a time says as much as is needed", () => {
  const now = new Date("2026-11-30T03:00:00Z");
  expect(formatTime("2026-11-30T01:05:00Z", "en", "Asia/Tokyo", now)).toBe("10:05");
  expect(formatTime("2026-11-29T01:05:00Z", "en", "Asia/Tokyo", now)).toContain("Nov 29");
  expect(formatTime("2025-11-29T01:05:00Z", "ja", "Asia/Tokyo", now)).toContain("2025年");
  expect(formatTime("2026-11-30T01:05:00Z", "en", "Mars/Olympus", now)).toMatch(/\d/);
});

test("texts are compared by the words of their language", () => {
  const parts = words("大阪へ出張します", "東京へ出張します", "ja") ?? [];
  expect(parts.filter((part) => part.removed).map((part) => part.value)).toEqual(["大阪"]);
  expect(parts.filter((part) => part.added).map((part) => part.value)).toEqual(["東京"]);
});
