import type { OpenApi } from "../../../lib/http/openapi/document.ts";
import type { JsonSchema } from "../../../lib/http/openapi/json-schema.ts";

/** The document's schemas as TypeScript, for clients: one type per schema. */
export function typesOf({ components }: OpenApi): string {
  const types = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema, 0)};\n`,
  );
  return `// Made from openapi.json by \`npm run openapi\`; what is changed here is lost.\n\n${types.join("\n")}`;
}

function typeOf(schema: JsonSchema, depth: number): string {
  const { $ref, type, enum: words, anyOf, oneOf } = schema;
  if (typeof $ref === "string") return $ref.split("/").at(-1) ?? "unknown";
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(" | ");
  const branches = anyOf ?? oneOf;
  if (Array.isArray(branches)) return branches.map((branch: JsonSchema) => typeOf(branch, depth)).join(" | ");
  if (Array.isArray(type)) return type.map((one: string) => typeOf({ ...schema, type: one }, depth)).join(" | ");
  if (type === "array") return `readonly ${wrapped(typeOf((schema["items"] ?? {}) as JsonSchema, depth))}[]`;
  if (type === "object") return objectOf(schema, depth);
  return PLAIN[String(type)] ?? "unknown";
}

const PLAIN: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
};

const wrapped = (type: string): string => (/[ |]/.test(type) && !type.startsWith("{") ? `(${type})` : type);

function objectOf(schema: JsonSchema, depth: number): string {
  const { properties, required = [], additionalProperties } = schema;
  const named = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
  if (named.length === 0) {
    const values = isSchema(additionalProperties) ? typeOf(additionalProperties, depth) : "unknown";
    return `Readonly<Record<string, ${values}>>`;
  }
  const indent = "  ".repeat(depth + 1);
  const lines = named.map(([name, value]) => {
    const optional = (required as readonly string[]).includes(name) ? "" : "?";
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${indent}readonly ${key}${optional}: ${typeOf(value, depth + 1)};`;
  });
  return `{\n${lines.join("\n")}\n${"  ".repeat(depth)}}`;
}

/** `{}` lets anything through. */
function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}
