import fc from "fast-check";
import type { JsonSchema, OpenApi, Operation } from "../../../lib/http/openapi/open-api.ts";
import { ROUTES, type RouteName } from "../../../lib/http/routes.ts";
import type { Request } from "../clients/call.ts";

/** A nonsensical request, or nearly a right one. It names no host but this machine. */
export interface Generated {
  readonly route: RouteName;
  readonly request: Request;
}

/** Requests of every operation: bodies near their schema, wrong types, missing and unknown parts, hostile text everywhere. */
export function generatedRequests(
  document: OpenApi,
  workspaceId: string,
  ids: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<Generated> {
  const operations = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .filter(({ operationId }) => operationId in ROUTES);
  return fc.constantFrom(...operations).chain((operation) => {
    const route = operation.operationId as RouteName;
    return requestOf(document, operation, workspaceId, ids).map((request) => ({ route, request }));
  });
}

const HOSTILE = [
  ...["", " ", "\u0000", "\ud800", "__proto__", "constructor", "'; DROP TABLE contact; --", '" OR 1=1 --'],
  ...["../../../etc/passwd", "%00%ff", "{{7*7}}", "$(id) `id`", "<script>alert(1)</script>", "\u202eevil"],
  ...["𝕬".repeat(70), "x".repeat(5000), "NaN", "-1", "1e309", "9007199254740993", "null", "2026-13-45T99:99:99Z"],
];

const hostile = () => fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: "binary", maxLength: 40 }));

const anything = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    hostile(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(hostile(), { maxLength: 3 }),
    fc.dictionary(hostile(), hostile(), { maxKeys: 3 }),
  );

function requestOf(
  document: OpenApi,
  { parameters, requestBody }: Operation,
  workspaceId: string,
  ids: Readonly<Record<string, readonly string[]>>,
): fc.Arbitrary<Request> {
  const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const idsOf = (name: string) =>
    name === "workspace_id"
      ? fc.constant(workspaceId)
      : fc.oneof(fc.constantFrom("none", ...(ids[name] ?? [])), hostile());
  const path = fc.record(Object.fromEntries(inPath.map((name) => [name, idsOf(name)])));
  const parts = (of: (schema: JsonSchema) => fc.Arbitrary<string | string[]>) =>
    fc.record(Object.fromEntries(inQuery.map(({ name, schema }) => [name, of(schema)])), { requiredKeys: [] });
  const anyText = (schema: JsonSchema) => fc.oneof(asText(schema), hostile(), twice());
  const query = fc.oneof(fc.constant({}), parts(asText), parts(anyText));
  const headers = fc.record({ "Idempotency-Key": hostile(), "If-Match": hostile() }, { requiredKeys: [] });
  const schema = requestBody?.content["application/json"]?.schema;
  if (schema === undefined) return fc.record({ path, query, headers }) as fc.Arbitrary<Request>;
  const body = fc.oneof(
    { weight: 8, arbitrary: near(document, schema) },
    { weight: 1, arbitrary: anything() },
    { weight: 1, arbitrary: hostile() },
  );
  return fc.record({ path, query, headers, body }) as fc.Arbitrary<Request>;
}

const twice = () => fc.array(hostile(), { minLength: 2, maxLength: 2 });

function asText(schema: JsonSchema): fc.Arbitrary<string> {
  const { enum: words, type, minimum = 0, maximum = 1e9, default: usual = 1 } = schema;
  if (Array.isArray(words)) return fc.constantFrom(...words.map(String));
  if (type !== "integer") return fc.oneof(fc.constantFrom("contact", "1"), hostile());
  return fc.oneof(fc.constant(usual), fc.integer({ min: Number(minimum), max: Number(maximum) })).map(String);
}

/** Mostly what the schema asks for, part by part; now and then something else. */
function near(document: OpenApi, schema: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 7, arbitrary: right(document, schema) }, { weight: 1, arbitrary: anything() });
}

function right(document: OpenApi, schema: JsonSchema): fc.Arbitrary<unknown> {
  const { $ref, type, enum: words, anyOf, oneOf, items, properties } = schema;
  if (typeof $ref === "string") return right(document, document.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {});
  if ("const" in schema) return fc.constant(schema["const"]);
  if (Array.isArray(words)) return fc.constantFrom(...words);
  const branches = (anyOf ?? oneOf) as readonly JsonSchema[] | undefined;
  if (branches) return fc.oneof(...branches.map((branch) => right(document, branch)));
  if (Array.isArray(type)) return fc.oneof(...type.map((one: string) => right(document, { ...schema, type: one })));
  if (properties) return objectNear(document, schema);
  switch (type) {
    case "string":
      return fc.oneof(
        fc.constantFrom("Contact", "LastName", "Email", "ada@example.com", "http://127.0.0.1:9/"),
        hostile(),
      );
    case "integer":
    case "number":
      return fc.oneof(fc.integer({ min: 0, max: 100_000 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(near(document, (items ?? {}) as JsonSchema), { maxLength: 4 });
    case "null":
      return fc.constant(null);
    default:
      return anything();
  }
}

function objectNear(document: OpenApi, { properties, required = [] }: JsonSchema): fc.Arbitrary<unknown> {
  const parts = Object.entries(properties as Record<string, JsonSchema>);
  const whole = Object.fromEntries(parts.map(([name, schema]) => [name, near(document, schema)]));
  return fc.oneof(
    { weight: 4, arbitrary: fc.record(whole, { requiredKeys: [...(required as readonly string[])] }) },
    { weight: 2, arbitrary: fc.record(whole, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.record({ ...whole, unknown_part: anything() }, { requiredKeys: [] }) },
  );
}
