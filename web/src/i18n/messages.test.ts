import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import names from "../../generated/names.json";
import en from "../../messages/en.json";
import ja from "../../messages/ja.json";

const languages: Record<string, Record<string, string>> = { en, ja };
const base = (key: string) => key.replace(/_(one|other)$/, "");
const keys = (sentences: Record<string, string>) => [...new Set(Object.keys(sentences).map(base))].sort();

test("both languages say the same things, with the same values", () => {
  expect(keys(ja)).toEqual(keys(en));
  const values = (text: string) => [...new Set(text.match(/\{\{\w+(, number)?\}\}/g) ?? [])].sort();
  const other = (sentences: Record<string, string>, key: string) => sentences[`${key}_other`] ?? sentences[key] ?? "";
  for (const key of keys(en)) expect([key, values(other(ja, key))]).toEqual([key, values(other(en, key))]);
});

test("every code that the server can answer has a sentence that says what to do", () => {
  for (const [language, sentences] of Object.entries(languages)) {
    const missing = names.codes.filter((code) => (sentences[`problem.${code}`] ?? "").length < 15);
    expect({ language, missing }).toEqual({ language, missing: [] });
  }
});

test("every status, action, kind and break has its name", () => {
  const needed = [
    ...names.statuses.map((name) => `status.${name}`),
    ...names.actions.map((name) => `action.${name}`),
    ...names.kinds.map((name) => `kind.${name}`),
    ...names.events.map((name) => `kind.${name.split(".")[0]}`),
    ...names.breaks.map((name) => `break.${name}`),
  ];
  for (const [language, sentences] of Object.entries(languages)) {
    expect({ language, missing: needed.filter((key) => !sentences[key]) }).toEqual({ language, missing: [] });
  }
});

test("no sentence is there for nothing", () => {
  const source = readdirSync(join(import.meta.dirname, ".."), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes(".test."))
    .map((file) => readFileSync(join(import.meta.dirname, "..", file), "utf8"))
    .join("\n");
  const prefixes = [...source.matchAll(/[`"]([a-z_]+\.[a-z_]*)\$\{/g)].map((match) => match[1] ?? "");
  const unused = keys(en).filter(
    (key) => !source.includes(`"${key}"`) && !prefixes.some((prefix) => key.startsWith(prefix)),
  );
  expect(unused).toEqual([]);
});
