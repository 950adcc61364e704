// Writes what the page knows of the API from its OpenAPI document, which comes on standard input: the types, and the
// codes and actions that the messages must have a sentence for. With --check it only compares, and fails on a difference.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

let text = "";
for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
const document = JSON.parse(text);
const head = "// Written by scripts/types.mjs from the OpenAPI document. Do not edit: run `make page-types`.\n\n";
const types = head + astToString(await openapiTS(document, { rootTypes: true, rootTypesNoSchemaPrefix: true }));

const codes = new Set();
const collect = (value) => {
  if (value === null || typeof value !== "object") return;
  for (const code of value.properties?.code?.enum ?? []) codes.add(code);
  Object.values(value).forEach(collect);
};
collect(document.components.responses);
const parameter = (name) => document.components.parameters[name]?.schema.enum ?? [];
const names = {
  codes: [...codes].sort(),
  actions: [...parameter("action")].sort(),
  kinds: [...parameter("kind")].sort(),
  statuses: document.components.schemas.Status.enum,
  events: document.components.schemas.Webhook.properties.event_types.items.enum,
  breaks: document.components.schemas.Break.properties.why.enum,
};
const written = {
  "generated/api.ts": types,
  "generated/names.json": `${JSON.stringify(names, null, 2)}\n`,
};
let drifted = false;
for (const [file, text] of Object.entries(written)) {
  if (!process.argv.includes("--check")) {
    writeFileSync(file, text);
  } else if (readFileSync(file, "utf8") !== text) {
    console.error(`ringi: web/${file} is not what the OpenAPI document says: run \`make page-types\` and commit it`);
    drifted = true;
  }
}
if (drifted) process.exit(1);
