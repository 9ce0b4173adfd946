import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonSchema, OpenApi } from "../../lib/http/openapi/open-api.ts";

/** The API as it was released, with which a check that gets lost does not take its own case along. */
export const RELEASED = JSON.parse(readFileSync(join(import.meta.dirname, "released-openapi.json"), "utf8")) as OpenApi;

/**
 * What a client of the released API would trip over in the next one, in sentences: operations, parameters and answers
 * that are gone, requests that ask for more, answers that promise less. Additions break no client.
 */
export function breakingChanges(next: OpenApi, released = RELEASED): readonly string[] {
  const changes: string[] = [];
  const compare = (place: string, before: JsonSchema, after: JsonSchema, isAsked: boolean): void => {
    const [was, is] = [resolve(before, released), resolve(after, next)];
    if (String(was["type"]) !== String(is["type"])) changes.push(`${place} is ${is["type"]} instead of ${was["type"]}`);
    const words = listOf(is, "enum");
    const lost = isAsked && words.length > 0 ? listOf(was, "enum").filter((word) => !words.includes(word)) : [];
    const [needed, needs, parts] = [listOf(was, "required"), listOf(is, "required"), partsOf(is)];
    const more = isAsked ? needs.filter((name) => !needed.includes(name)) : [];
    const less = isAsked ? [] : needed.filter((name) => name in parts && !needs.includes(name));
    changes.push(
      ...lost.map((word) => `${place} no longer takes ${word}`),
      ...more.map((name) => `${place}.${name} is asked for now`),
      ...less.map((name) => `${place}.${name} may be missing now`),
    );
    for (const [name, part] of Object.entries(partsOf(was))) {
      const same = parts[name];
      if (same) compare(`${place}.${name}`, part, same, isAsked);
      else changes.push(`${place}.${name} is gone`);
    }
    if (was["items"]) compare(`${place}[]`, was["items"] as JsonSchema, (is["items"] ?? {}) as JsonSchema, isAsked);
  };

  for (const [path, methods] of Object.entries(released.paths)) {
    for (const [method, before] of Object.entries(methods)) {
      const after = next.paths[path]?.[method];
      const name = `${method.toUpperCase()} ${path}`;
      if (!after) {
        changes.push(`${name} is gone`);
        continue;
      }
      const isIn = (parameters: typeof after.parameters, wanted: string) =>
        parameters.some((parameter) => parameter.name === wanted);
      const gone = before.parameters.filter((one) => !isIn(after.parameters, one.name));
      const asked = after.parameters.filter((one) => one.required && !isIn(before.parameters, one.name));
      changes.push(...gone.map((one) => `${name}: parameter ${one.name} is gone`));
      changes.push(...asked.map((one) => `${name}: parameter ${one.name} is asked for now`));
      compare(`${name}: the body`, schemaOf(before.requestBody), schemaOf(after.requestBody), true);
      compare(`${name}: the answer`, schemaOf(before.responses["200"]), schemaOf(after.responses["200"]), false);
    }
  }
  return changes;
}

/** The schema of a body or an answer in JSON; without one, that of anything. */
export function schemaOf(part: unknown): JsonSchema {
  const { content } = (part ?? {}) as { content?: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  return content?.["application/json"]?.schema ?? {};
}

/** A schema, or the one that its reference names. */
export function resolve(schema: JsonSchema, { components }: OpenApi): JsonSchema {
  const { $ref } = schema;
  return typeof $ref === "string" ? (components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}) : schema;
}

export const partsOf = (schema: JsonSchema) => (schema["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
const listOf = (schema: JsonSchema, list: "enum" | "required") => (schema[list] ?? []) as readonly string[];
