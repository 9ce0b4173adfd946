import type { JsonSchema, OpenApi, Operation } from "../../lib/http/openapi/open-api.ts";

/**
 * What a client of the released API would trip over in the next one, in sentences: operations, parameters and answers
 * that are gone, requests that ask for more, answers that promise less. Additions break no client.
 */
export function breakingChanges(released: OpenApi, next: OpenApi): readonly string[] {
  return Object.entries(released.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const after = next.paths[path]?.[method];
      const name = `${method.toUpperCase()} ${path}`;
      if (!after) return [`${name} is gone`];
      return [
        ...parametersThatBreak(before, after).map((what) => `${name}: ${what}`),
        ...compare("the body", bodyOf(before), bodyOf(after), "asked", [released, next]).map(
          (what) => `${name}: ${what}`,
        ),
        ...compare("the answer", answerOf(before), answerOf(after), "answered", [released, next]).map(
          (what) => `${name}: ${what}`,
        ),
      ];
    }),
  );
}

function parametersThatBreak(before: Operation, after: Operation): readonly string[] {
  const known = new Set(before.parameters.map(({ name }) => name));
  const kept = new Set(after.parameters.map(({ name }) => name));
  return [
    ...[...known].filter((name) => !kept.has(name)).map((name) => `parameter ${name} is gone`),
    ...after.parameters
      .filter(({ name, required }) => required && !known.has(name))
      .map(({ name }) => `parameter ${name} is asked for now`),
  ];
}

function bodyOf({ requestBody }: Operation): JsonSchema {
  return requestBody?.content["application/json"]?.schema ?? {};
}

function answerOf({ responses }: Operation): JsonSchema {
  const { content } = (responses["200"] ?? {}) as { content?: Record<string, { schema: JsonSchema }> };
  return content?.["application/json"]?.schema ?? {};
}

type Documents = readonly [OpenApi, OpenApi];

/** `asked`: what a client sends; `answered`: what it reads. */
function compare(
  place: string,
  before: JsonSchema,
  after: JsonSchema,
  kind: "asked" | "answered",
  documents: Documents,
): readonly string[] {
  const [was, is] = [resolve(before, documents[0]), resolve(after, documents[1])];
  if (String(was["type"]) !== String(is["type"])) return [`${place} is ${is["type"]} instead of ${was["type"]}`];
  return [
    ...wordsThatBreak(place, was, is, kind),
    ...propertiesThatBreak(place, was, is, kind, documents),
    ...(was["type"] === "array"
      ? compare(`${place}[]`, (was["items"] ?? {}) as JsonSchema, (is["items"] ?? {}) as JsonSchema, kind, documents)
      : []),
  ];
}

function wordsThatBreak(place: string, was: JsonSchema, is: JsonSchema, kind: "asked" | "answered"): readonly string[] {
  const [before, after] = [was["enum"], is["enum"]];
  if (kind !== "asked" || !Array.isArray(before) || !Array.isArray(after)) return [];
  return before.filter((word) => !after.includes(word)).map((word) => `${place} no longer takes ${word}`);
}

function propertiesThatBreak(
  place: string,
  was: JsonSchema,
  is: JsonSchema,
  kind: "asked" | "answered",
  documents: Documents,
): readonly string[] {
  const [before, after] = [partsOf(was), partsOf(is)];
  const [needed, needs] = [requiredOf(was), requiredOf(is)];
  return [
    ...Object.keys(before)
      .filter((name) => !(name in after))
      .map((name) => `${place}.${name} is gone`),
    ...(kind === "asked"
      ? needs.filter((name) => !needed.includes(name)).map((name) => `${place}.${name} is asked for now`)
      : needed
          .filter((name) => name in after && !needs.includes(name))
          .map((name) => `${place}.${name} may be missing now`)),
    ...Object.entries(before).flatMap(([name, schema]) =>
      name in after ? compare(`${place}.${name}`, schema, after[name] ?? {}, kind, documents) : [],
    ),
  ];
}

const partsOf = (schema: JsonSchema) => (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
const requiredOf = (schema: JsonSchema) => (schema["required"] ?? []) as readonly string[];

function resolve(schema: JsonSchema, { components }: OpenApi): JsonSchema {
  const { $ref } = schema;
  return typeof $ref === "string" ? (components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}) : schema;
}
