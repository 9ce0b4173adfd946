import * as z from "zod/mini";
import { configDocument } from "../contract.ts";
import type { Described } from "../endpoint.ts";
import { ROUTES, type Route, type RouteName } from "../routes.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isNamable, isVersioned, Refusal, refusalsOf, responses } from "./refusals.ts";

/** One operation of the document. */
export interface Operation {
  readonly operationId: RouteName;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

/** The API in the words of OpenAPI 3.1. */
export interface OpenApi {
  readonly openapi: "3.1.1";
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, JsonSchema>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, JsonSchema>>;
  };
}

/** The document of the whole route table, from the very schemas that validate. Same endpoints, same bytes. */
export function describeApi(endpoints: ReadonlyMap<RouteName, Described>): OpenApi {
  const schemas: Record<string, JsonSchema> = { Meta, Refusal };
  const paths: Record<string, Record<string, Operation>> = {};
  const names = (Object.keys(ROUTES) as RouteName[]).toSorted();
  for (const name of names) {
    const route: Route = ROUTES[name];
    const onPath = paths[route.path] ?? {};
    onPath[route.method.toLowerCase()] = operation(name, route, endpoints.get(name) ?? {}, schemas);
    paths[route.path] = onPath;
  }
  return {
    openapi: "3.1.1",
    info: { title: "Bridge", version: "1", description: INTRODUCTION },
    servers: [{ url: "./" }],
    paths: sorted(paths),
    components: { securitySchemes, schemas: sorted(schemas), responses },
  };
}

const INTRODUCTION = [
  "Keeps rows of PostgreSQL tables and records of Salesforce objects in step, both ways.",
  "Every answer stands in an envelope: `success`, `data`, `meta` on pages of a list, `error` when refused.",
  "At most 300 requests a minute from one address; `RateLimit` says what is left.",
].join(" ");

const securitySchemes = {
  token: { type: "http", scheme: "bearer", description: "An API token, `brg_…`, of the workspace in the path." },
};

const Meta: JsonSchema = {
  type: "object",
  properties: { total: { type: "integer" }, limit: { type: "integer" }, offset: { type: "integer" } },
  required: ["total", "limit", "offset"],
  additionalProperties: false,
};

function operation(
  name: RouteName,
  route: Route,
  { summary = "", input, output }: Described,
  schemas: Record<string, JsonSchema>,
): Operation {
  const { query, body } = inputOf(name, input);
  const keep = (part: string, schema: JsonSchema): JsonSchema => {
    schemas[pascal(name) + part] = schema;
    return { $ref: `#/components/schemas/${pascal(name)}${part}` };
  };
  const asked = body === null ? {} : { requestBody: { required: true, content: json(keep("Body", body)) } };
  return {
    operationId: name,
    summary,
    description: route.scope === null ? "Asks for no token." : `Asks for a token with scope \`${route.scope}\`.`,
    tags: [tagOf(route.path)],
    security: route.scope === null ? [] : [{ token: [] }],
    parameters: [...pathParameters(route.path), ...query, ...headers(route)],
    ...asked,
    responses: { 200: good(name, output, keep), ...refusalsOf(route, input !== undefined) },
  };
}

function good(
  name: RouteName,
  output: z.ZodMiniType | undefined,
  keep: (part: string, schema: JsonSchema) => JsonSchema,
) {
  if (output === undefined) return { description: "Good.", content: { [plainTypeOf(name)]: { schema: {} } } };
  const isPage = PAGES.has(name);
  const one = keep("Data", schemaOf(output, "output"));
  const properties = { success: { const: true }, data: isPage ? { type: "array", items: one } : one };
  const envelope: JsonSchema = {
    type: "object",
    properties: isPage ? { ...properties, meta: { $ref: "#/components/schemas/Meta" } } : properties,
    required: ["success", "data", ...(isPage ? ["meta"] : [])],
    additionalProperties: false,
  };
  const csv = name === "list-audit-log" ? { "text/csv": { schema: { type: "string" } } } : {};
  return { description: "Good.", content: { ...json(envelope), ...csv } };
}

/** Endpoints that answer a page of a list with `meta`: their `output` is one row of it. */
const PAGES: ReadonlySet<RouteName> = new Set([
  "list-activity",
  "list-errors",
  "list-audit-log",
  "list-deliveries",
  "list-inbound-errors",
  "list-conflicts",
  "list-held-deletes",
]);

function plainTypeOf(name: RouteName): string {
  if (name === "read-metrics") return "text/plain";
  return name === "read-api-page" ? "text/html" : "application/json";
}

const json = (schema: JsonSchema): Content => ({ "application/json": { schema } });

function inputOf(name: RouteName, input: z.ZodMiniType | undefined) {
  if (input === undefined) return { query: [], body: null };
  const { properties = {}, required = [] } = schemaOf(input, "input") as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  const { body = null, ...rest } = properties;
  const query = Object.entries(rest).map(([parameter, schema]): Parameter => {
    const isNumber = NUMBERS.has(parameter);
    const told: JsonSchema = isNumber ? { ...schema, type: "integer", pattern: undefined } : schema;
    return { name: parameter, in: "query", required: required.includes(parameter), schema: told };
  });
  // An import takes anything and says what is wrong with it itself.
  return { query, body: name === "import-config" ? schemaOf(configDocument, "input") : body };
}

/** Query parameters that hold numbers; a query is text, so their schemas cannot say so. */
const NUMBERS = new Set(["limit", "offset", "overlap_seconds", "minutes"]);

function schemaOf(schema: z.ZodMiniType, io: "input" | "output"): JsonSchema {
  const { $schema: _, "~standard": __, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as JsonSchema;
  return JSON.parse(JSON.stringify(rest)) as JsonSchema;
}

function pathParameters(path: string): readonly Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function headers(route: Route): readonly Parameter[] {
  const header = (name: string, description: string): Parameter => ({
    name,
    in: "header",
    required: false,
    schema: { type: "string" },
    description,
  });
  return [
    ...(isNamable(route) ? [header("Idempotency-Key", "The same key does a thing once, for 24 hours.")] : []),
    ...(isVersioned(route) ? [header("If-Match", "The ETag of the version that the change is meant for.")] : []),
  ];
}

/** The part of the API that a path belongs to. */
function tagOf(path: string): string {
  return /^\/api\/v1\/t\/\{workspace_id\}\/([\w-]+)/.exec(path)?.[1] ?? "service";
}

/** `list-mappings` as `ListMappings`. */
const pascal = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
