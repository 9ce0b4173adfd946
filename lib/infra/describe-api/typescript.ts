import type { JsonSchema, OpenApi } from "../../http/openapi/open-api.ts";

/** The document's schemas as TypeScript, one type per schema, and `paths` as clients by path (openapi-fetch) read it. */
export function typesOf({ components, paths }: OpenApi): string {
  const types = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `export type ${name} = ${name.endsWith("Body") ? typeOf(schema, 0) : answered(typeOf(schema, 0))};\n`,
  );
  const methods = Object.entries(paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>).map(
    ([path, operations]) =>
      `  readonly ${JSON.stringify(path)}: {\n${Object.entries(operations).map(methodOf).join("")}  };\n`,
  );
  const header = "// Made from openapi.json by `npm run openapi`; what is changed here is lost.";
  return `${header}\n\n${types.join("\n")}${HELPERS}export interface paths {\n${methods.join("")}}\n`;
}

/** openapi-fetch takes a list apart only if it may be changed. */
const answered = (type: string): string => type.replaceAll(/(: |= |^)readonly /g, "$1");

const HELPERS = `
type Headers = Readonly<Record<string, string>>;
type Refused<Status extends PropertyKey> = {
  readonly [Each in Status]: { headers: Headers; content: { "application/json": Refusal } };
};

`;

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

function methodOf([method, { parameters = [], requestBody, responses }]: [string, Operation]): string {
  const places = ["path", "query", "header"].map((place) => {
    const here = parameters.filter((parameter) => parameter.in === place);
    const isOptional = here.every(({ required }) => required !== true);
    const named = here.map(({ name, required, schema }) => {
      return `readonly ${JSON.stringify(name)}${required ? "" : "?"}: ${typeOf(schema, 5)};`;
    });
    return here.length === 0 ? `${place}?: never;` : `${place}${isOptional ? "?" : ""}: { ${named.join(" ")} };`;
  });
  const body = requestBody
    ? `requestBody${requestBody.required === false ? "?" : ""}: { content: ${contentOf(requestBody.content)} };`
    : "requestBody?: never;";
  const given = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const refused = Object.keys(responses).filter((status) => !status.startsWith("2"));
  const answers = given.map(([status, { content = {} }]) => {
    return `${status}: { headers: Headers; content: ${answered(contentOf(content))} }`;
  });
  const statuses = refused.map((status) => (/^\d+$/.test(status) ? status : JSON.stringify(status)));
  return `    readonly ${method}: {
      parameters: { ${places.join(" ")} cookie?: never };
      ${body}
      responses: { ${answers.join("; ")} } & Refused<${statuses.join(" | ")}>;
    };\n`;
}

const contentOf = (content: Content): string =>
  `{ ${Object.entries(content)
    .map(([type, { schema }]) => `${JSON.stringify(type)}: ${typeOf(schema, 5)}`)
    .join("; ")} }`;

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
