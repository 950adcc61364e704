import { expect, test } from "vitest";
import { read, same, typedOf } from "./content";
import { AT_MOST_EVERY, dueIn, REST } from "./rhythm";

test("a draft is saved after a rest, and not more often than every half minute", () => {
  // The first save: five seconds after the last key.
  expect(dueIn(10_000, 10_000, 8_000, undefined)).toBe(REST);
  // Saved ten seconds ago: the half minute is waited out.
  expect(dueIn(20_000, 20_000, 20_000, 10_000)).toBe(20_000);
  // Saved long ago: the rest alone counts.
  expect(dueIn(100_000, 100_000, 100_000, 10_000)).toBe(REST);
  // Somebody who never rests is saved all the same.
  expect(dueIn(31_000, 30_900, 1_000, undefined)).toBe(0);
  expect(dueIn(29_000, 29_000, 1_000, undefined)).toBe(AT_MOST_EVERY + 1_000 - 29_000);
});

test("what stands in the fields is the content, or says what is wrong where", () => {
  expect(read({ title: "Desk", description: "", amount: "", currency: "JPY" })).toEqual({
    content: { title: "Desk", description: "", amount: null, currency: null },
  });
  expect(read({ title: "Desk", description: "a\r\nb", amount: "1,200", currency: "JPY" })).toEqual({
    content: { title: "Desk", description: "a\nb", amount: 1200, currency: "JPY" },
  });
  expect(read({ title: "", description: "x".repeat(10_001), amount: "-1", currency: "JPY" })).toEqual({
    problems: { title: "required", description: "length", amount: "range" },
  });
});

test("a request that was opened and not touched is not changed", () => {
  const request = { title: "Desk", description: "Oak", amount: 189900, currency: "USD" };
  const meant = read(typedOf(request, "JPY"));
  expect("content" in meant && same(meant.content, request)).toBe(true);
});
