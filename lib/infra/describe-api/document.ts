import * as z from "zod/mini";
import { configDocument } from "../../http/contract.ts";
import type { Described } from "../../http/endpoint.ts";
import examples from "../../http/openapi/examples.json" with { type: "json" };
import type { Content, JsonSchema, OpenApi, Operation, Parameter } from "../../http/openapi/open-api.ts";
import { ROUTES, type Route, type RouteName } from "../../http/routes.ts";
import { DESCRIPTIONS } from "./descriptions.ts";
import {
  headers,
  headersOf,
  isNamable,
  isVersioned,
  named,
  Refusal,
  referredTo,
  refusalsOf,
  responses,
} from "./refusals.ts";
import { describeWebhooks } from "./webhooks.ts";

/** The document of the whole route table, from the very schemas that validate. Same endpoints, same bytes. */
export function describeApi(endpoints: ReadonlyMap<RouteName, Described>): OpenApi {
  const schemas: Record<string, JsonSchema> = {
    Meta: described(Meta, ["Meta"]),
    Refusal: described(Refusal, ["Refusal"]),
  };
  const paths: Record<string, Record<string, Operation>> = {};
  const names = (Object.keys(ROUTES) as RouteName[]).toSorted();
  for (const name of names) {
    const route: Route = ROUTES[name];
    const onPath = paths[route.path] ?? {};
    onPath[route.method.toLowerCase()] = operation(name, route, endpoints.get(name) ?? {}, schemas);
    paths[route.path] = onPath;
  }
  for (const [path, [operationId, summary, type]] of Object.entries(FILES)) {
    paths[path] = { get: file(operationId, summary, type) };
  }
  const webhooks = describeWebhooks((name, schema) => {
    schemas[name] = described(schema, ["Event"]);
    return { $ref: `#/components/schemas/${name}` };
  });
  return {
    openapi: "3.1.1",
    info: {
      title: "Bridge",
      version: "1",
      description: INTRODUCTION,
      contact: { name: "The operator of this service" },
      license: LICENSE,
    },
    servers: [{ url: ".", description: "The service that gives this description." }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: sorted(paths),
    webhooks,
    components: { securitySchemes, schemas: sorted(schemas), headers, responses },
  };
}

const INTRODUCTION = [
  "Keeps rows of PostgreSQL tables and records of Salesforce objects in step, both ways.",
  "Every answer has an envelope: `success`, `data`, `meta` on pages of a list, `error` when refused.",
  "At most 300 requests a minute from one address; `RateLimit` says what is left.",
  "Times are ISO 8601 in UTC. A parameter that an endpoint does not have is refused with the nearest one that it has;",
  "the contract's endpoints ignore it and name it in the header `Warning`.",
  "What each error code means, and what to do: `docs/errors`.",
].join(" ");

const LICENSE = { name: "Apache-2.0", identifier: "Apache-2.0" };

/** The parts of the API. */
const TAGS: Readonly<Record<string, string>> = {
  "audit-log": "Who did what.",
  changes: "Every change of the log once, for programs that follow it.",
  config: "The configuration as a document, its baseline, and what differs from it.",
  connections: "The connections to PostgreSQL and Salesforce.",
  fleet: "All workspaces of a deployment, for its operators.",
  health: "How both sides and the engine do.",
  doorbell: "What wakes the engine before its next beat.",
  mappings: "Objects tied to tables, and what can be done with each.",
  monitoring: "Changes and their results, failures, conflicts, figures over time.",
  objects: "What the connected org has.",
  pause: "Pauses a workspace or the deployment, and resumes it.",
  restore: "What waits after a restore, and its decision.",
  rows: "What happened to one row.",
  service: "The service itself, and the workspace.",
  tokens: "Who may use the API.",
  webhooks: "Where events are sent, what a receiver gets, and what came back.",
};

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
    schemas[pascal(name) + part] = described(schema, [pascal(name) + part]);
    return { $ref: `#/components/schemas/${pascal(name)}${part}` };
  };
  const asked =
    body === null
      ? {}
      : { requestBody: { required: true, content: json(keep("Body", body), EXAMPLES[name]?.request) } };
  return {
    operationId: name,
    summary,
    description: route.scope === null ? "Asks for no token." : `Asks for a token with scope \`${route.scope}\`.`,
    tags: [tagOf(route.path)],
    security: route.scope === null ? [] : [{ token: [] }],
    parameters: [...pathParameters(route.path), ...query, ...requestHeaders(route)],
    ...asked,
    responses: { 200: { ...good(name, output, keep), headers: headersOf(name, route) }, ...refusalsOf(name) },
  };
}

function good(
  name: RouteName,
  output: z.ZodMiniType | undefined,
  keep: (part: string, schema: JsonSchema) => JsonSchema,
) {
  if (output === undefined) {
    return text(name === "read-metrics" ? "text/plain" : "text/xml");
  }
  const isPage = PAGES.has(name);
  const one = keep("Data", schemaOf(output, "output"));
  const data = isPage ? { type: "array", items: one } : one;
  const properties = { success: { const: true }, data };
  const envelope = described(
    {
      type: "object",
      properties: isPage ? { ...properties, meta: { $ref: "#/components/schemas/Meta" } } : properties,
      required: ["success", "data", ...(isPage ? ["meta"] : [])],
      additionalProperties: false,
    },
    [],
  );
  const csv = name === "list-audit-log" ? { "text/csv": { schema: { type: "string" } } } : {};
  return { description: "Good.", content: { ...json(envelope, EXAMPLES[name]?.response), ...csv } };
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

/** Files of the site that describe the API, by path. */
const FILES: Readonly<Record<string, readonly [operationId: string, summary: string, type: string]>> = {
  "/docs/errors": ["read-errors-page", "The error codes with their remedies, as a page to read.", "text/html"],
  "/openapi": ["read-api-page", "The description of the API as a page to read.", "text/html"],
  "/openapi.json": ["read-openapi", "This very description of the API, in OpenAPI 3.1.", "application/json"],
};

function file(operationId: string, summary: string, type: string): Operation {
  const answers = { 200: { ...text(type), headers: named(["X-Request-Id"]) }, ...referredTo(["405", "5XX"]) };
  return {
    ...{ operationId, summary, description: "Asks for no token.", tags: ["service"], security: [], parameters: [] },
    responses: answers,
  };
}

const text = (type: string) => ({
  description: "Good.",
  content: { [type]: { schema: { description: "The text." } } },
});

const json = (schema: JsonSchema, example?: unknown): Content => ({
  "application/json": { schema, ...(example !== undefined && { example }) },
});

/** Real answers, and the bodies that were sent; a test asks for them again. */
const EXAMPLES: Partial<Record<RouteName, { readonly request?: unknown; readonly response: unknown }>> = examples;

function inputOf(name: RouteName, input: z.ZodMiniType | undefined) {
  if (input === undefined) return { query: [], body: null };
  const { properties = {}, required = [] } = schemaOf(input, "input") as {
    properties?: Record<string, JsonSchema>;
    required?: readonly string[];
  };
  const { body = null, ...rest } = properties;
  const query = Object.entries(rest).map(([parameter, schema]): Parameter => {
    const description = descriptionOf([pascal(name), `query ${parameter}`]);
    return { name: parameter, in: "query", required: required.includes(parameter), description, schema };
  });
  // An import takes anything and says what is wrong with it itself.
  return { query, body: name === "import-config" ? schemaOf(configDocument, "input") : body };
}

function schemaOf(schema: z.ZodMiniType, io: "input" | "output"): JsonSchema {
  const { $schema: _, "~standard": __, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" }) as JsonSchema;
  return JSON.parse(JSON.stringify(rest)) as JsonSchema;
}

function pathParameters(path: string): readonly Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: descriptionOf([`path ${name}`]),
    schema: { type: "string" },
  }));
}

function requestHeaders(route: Route): readonly Parameter[] {
  const header = (name: string): Parameter => ({
    name,
    in: "header",
    required: false,
    description: descriptionOf([`header ${name}`]),
    schema: { type: "string" },
  });
  return [
    ...(isNamable(route) ? [header("Idempotency-Key")] : []),
    ...(isVersioned(route) ? [header("If-Match")] : []),
  ];
}

/** The schema with a description of each property, by the names that lead to it. */
function described(schema: JsonSchema, names: readonly string[]): JsonSchema {
  const parts = Object.entries(schema).map(([key, value]) => {
    if (key === "properties") return [key, describedAll(value, names)];
    if (BRANCHES.includes(key))
      return [key, (value as readonly JsonSchema[]).map((branch) => described(branch, names))];
    if (INNER.includes(key) && typeof value === "object") return [key, described(value as JsonSchema, names)];
    return [key, value];
  });
  return Object.fromEntries(parts) as JsonSchema;
}

const INNER = ["items", "additionalProperties"];
const BRANCHES = ["anyOf", "oneOf", "allOf"];

function describedAll(value: unknown, names: readonly string[]) {
  const parts = Object.entries(value as Readonly<Record<string, JsonSchema>>).map(([name, part]) => {
    const path = [...names, name];
    return [name, { description: descriptionOf(path), ...described(part, path) }];
  });
  return Object.fromEntries(parts) as JsonSchema;
}

/** By the longest end of the names that has one. */
function descriptionOf(names: readonly string[]): string {
  const key = names.map((_, at) => names.slice(at).join(".")).find((one) => one in DESCRIPTIONS);
  if (key === undefined) throw new Error(`descriptions.ts says nothing of ${names.join(".")}`);
  return DESCRIPTIONS[key] ?? "";
}

/** The part of the API that a path belongs to. */
function tagOf(path: string): string {
  if (path.endsWith("/nudge") || path.startsWith("/ring/")) return "doorbell";
  return /^\/api\/v1\/t\/\{workspace_id\}\/([\w-]+)/.exec(path)?.[1] ?? "service";
}

/** `list-mappings` as `ListMappings`. */
const pascal = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());

function sorted<Value>(record: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
