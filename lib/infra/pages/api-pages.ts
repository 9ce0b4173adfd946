import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERRORS } from "../../http/openapi/errors.ts";
import type { JsonSchema, OpenApi, Operation } from "../../http/openapi/open-api.ts";
import { type FailureCode, STATUS_OF } from "../../model/failure.ts";

const DESCRIPTION = join(import.meta.dirname, "../../http/openapi/openapi.json");

/** The description of the API as files of the console's site: for programs, for people, and the codes of errors. */
export function buildApiPages(): ReadonlyMap<string, Uint8Array> {
  const document = JSON.parse(readFileSync(DESCRIPTION, "utf8")) as OpenApi;
  return new Map([
    ["openapi.json", Buffer.from(JSON.stringify(document))],
    ["openapi.html", Buffer.from(pageOf(document))],
    ["docs/errors.html", Buffer.from(errorsPage())],
  ]);
}

/** The document as a page that reads without scripts: one section per part of the API, one entry per operation. */
export function pageOf(document: OpenApi): string {
  const asked = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const sent = Object.entries(document.webhooks).map(([path, { post }]) => ({ path, method: "sent", operation: post }));
  const parts = Map.groupBy<string, Entry>([...asked, ...sent], ({ operation }) => operation.tags[0] ?? "service");
  const names = [...parts.keys()].toSorted();
  const contents = names.map((name) => `<a href="#${name}">${escaped(name)}</a>`).join(" ");
  const sections = names.map((name) => section(name, parts.get(name) ?? [], document));
  const { title, description } = document.info;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escaped(title)} API</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body><h1>${escaped(title)} API</h1><p>${marked(description)}</p>
<p>For machines: <a href="openapi.json">openapi.json</a> (OpenAPI 3.1). What each error code means: <a href="docs/errors">docs/errors</a></p><nav>${contents}</nav>
${sections.join("\n")}</body></html>`;
}

/** Every code of a refusal, as a page whose anchors are the codes. */
export function errorsPage(): string {
  const codes = Object.keys(ERRORS) as FailureCode[];
  const entries = codes.map((code) => {
    const [when, remedy] = ERRORS[code];
    return `<article id="${code}"><h3><code>${code}</code> ${STATUS_OF[code]}</h3><p>${marked(when)}</p><p>${marked(remedy)}</p></article>`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Bridge API errors</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body><h1>Bridge API errors</h1><p>A refusal is <code>{"success": false, "error": {"code", "message", "details"?}}</code>. All endpoints: <a href="../openapi">openapi</a>.</p>
${entries.join("\n")}</body></html>`;
}

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:2rem auto;padding:0 1rem}
nav a{margin-right:.75rem}h2{margin-top:2.5rem;border-bottom:1px solid #8888}h3{font-size:1rem;margin:1.5rem 0 .25rem;overflow-wrap:anywhere}
code,pre{font-family:ui-monospace,monospace;font-size:.875rem}pre{background:#8882;padding:.75rem;overflow-x:auto}
b{display:inline-block;min-width:4rem}p{margin:.25rem 0}`;

interface Entry {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function section(name: string, entries: readonly Entry[], document: OpenApi): string {
  return `<section><h2 id="${name}">${escaped(name)}</h2>${entries.map((entry) => entryOf(entry, document)).join("")}</section>`;
}

function entryOf({ path, method, operation }: Entry, { components }: OpenApi): string {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const query = parameters.filter((parameter) => parameter.in !== "path");
  const inputs = query.map(({ name, in: where }) => `<code>${escaped(name)}</code> (${where})`).join(", ");
  const body = requestBody?.content["application/json"]?.schema;
  const { content = {} } = (responses["200"] ?? {}) as { content?: Record<string, { schema: JsonSchema }> };
  const answer = dataOf(content["application/json"]?.schema ?? {});
  const schemaText = (schema: JsonSchema) => escaped(outline(schema, components.schemas, 0));
  return `<article id="${operationId}"><h3><b>${method}</b> <code>${escaped(path)}</code></h3>
<p>${marked(summary)} ${marked(description)}</p>${inputs === "" ? "" : `<p>Takes ${inputs}</p>`}
${body ? `<p>Body</p><pre>${schemaText(body)}</pre>` : ""}${answer ? `<p>Answers <code>data</code></p><pre>${schemaText(answer)}</pre>` : ""}</article>`;
}

function dataOf(envelope: JsonSchema): JsonSchema | null {
  const { data } = (envelope["properties"] ?? {}) as { data?: JsonSchema };
  return data ?? null;
}

/** A schema in short: names and types, one line each. */
function outline(schema: JsonSchema, schemas: Readonly<Record<string, JsonSchema>>, depth: number): string {
  const { $ref, type, enum: words, anyOf, properties, items } = schema;
  if (typeof $ref === "string") return outline(schemas[$ref.split("/").at(-1) ?? ""] ?? {}, schemas, depth);
  if (Array.isArray(words)) return words.join(" | ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(anyOf)) return anyOf.map((one: JsonSchema) => outline(one, schemas, depth)).join(" | ");
  if (type === "array") return `[${outline((items ?? {}) as JsonSchema, schemas, depth)}]`;
  if (properties === undefined) return [type ?? "anything"].flat().join(" | ");
  const required = (schema["required"] ?? []) as readonly string[];
  const indent = "  ".repeat(depth + 1);
  const lines = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, value]) => `${indent}${name}${required.includes(name) ? "" : "?"}: ${outline(value, schemas, depth + 1)}`,
  );
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

const marked = (text: string): string => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => ESCAPES[sign] ?? sign);
