import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readEndpoints } from "../../functions/endpoints.ts";
import type { Described } from "../../lib/http/endpoint.ts";
import { describeApi, type OpenApi } from "../../lib/http/openapi/document.ts";
import { pageOf } from "../../lib/http/openapi/page.ts";
import { ROUTES, type Route, type RouteName } from "../../lib/http/routes.ts";
import { breakingChanges } from "../programs/describe-api/breaking.ts";
import { typesOf } from "../programs/describe-api/typescript.ts";

const HERE = import.meta.dirname;
const kept = (file: string): string => readFileSync(join(HERE, "../../lib/http/openapi", file), "utf8");

let endpoints: ReadonlyMap<RouteName, Described>;
let document: OpenApi;
beforeAll(async () => {
  endpoints = await readEndpoints();
  document = describeApi(endpoints);
});

const copy = (): OpenApi => structuredClone(document);
const operationIn = (api: OpenApi, path: string, method: string) => api.paths[path]?.[method];

describe("the description of the API", () => {
  test("is made from the route table and the schemas that validate: `npm run openapi` brings it up to date", () => {
    expect(JSON.parse(kept("openapi.json"))).toEqual(JSON.parse(JSON.stringify(document)));
    expect(kept("types.ts")).toBe(typesOf(document));
  });

  test("has every row of the route table, each with a sentence and the shape of its answer", () => {
    const plain = new Set<string>(["read-metrics", "read-openapi", "read-api-page"]);
    const missing = [...endpoints].flatMap(([name, { summary, output }]) => [
      ...(summary ? [] : [`${name} has no summary`]),
      ...(output || plain.has(name) ? [] : [`${name} has no output`]),
    ]);

    expect(missing).toEqual([]);
    for (const [name, { method, path }] of Object.entries<Route>(ROUTES)) {
      expect(operationIn(document, path, method.toLowerCase())?.operationId).toBe(name);
    }
  });

  test("asks for a token everywhere but outside of the prefix", () => {
    const open = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ security }) => security.length === 0);

    expect(open.map(({ operationId }) => operationId).toSorted()).toEqual([
      "read-api-page",
      "read-metrics",
      "read-openapi",
    ]);
  });

  test("reads as a page without scripts, in which nothing of the document can be markup", () => {
    const hostile = copy();
    const operation = operationIn(hostile, "/openapi.json", "get");
    Object.assign(operation ?? {}, { summary: "<script>alert(1)</script>" });

    const page = pageOf(hostile);

    expect(page).not.toContain("<script");
    expect(page).toContain("&lt;script&gt;");
    expect(page).toContain("/api/v1/t/{workspace_id}/mappings");
  });
});

describe("a change of the API", () => {
  test("breaks no client of the released one", () => {
    const released = JSON.parse(readFileSync(join(HERE, "released-openapi.json"), "utf8")) as OpenApi;

    expect(breakingChanges(released, document)).toEqual([]);
  });

  const mappings = "/api/v1/t/{workspace_id}/mappings";
  test.each<[string, (api: OpenApi) => void, string]>([
    ["an operation that is gone", (api) => Reflect.deleteProperty(api.paths, mappings), `GET ${mappings} is gone`],
    [
      "a parameter that is gone",
      (api) => Object.assign(operationIn(api, mappings, "get") ?? {}, { parameters: [] }),
      `GET ${mappings}: parameter include is gone`,
    ],
    [
      "a field of an answer that is gone",
      (api) => Reflect.deleteProperty(schema(api, "ReadHealthData")["properties"], "pg"),
      "GET /api/v1/t/{workspace_id}/health: the answer.data.pg is gone",
    ],
    [
      "a field of an answer of another type",
      (api) =>
        Object.assign(schema(api, "ReadBudgetData")["properties"], { forecast_calls_per_day: { type: "string" } }),
      "GET /api/v1/t/{workspace_id}/monitoring/budget: the answer.data.forecast_calls_per_day is string instead of integer",
    ],
    [
      "a field that a request must have now",
      (api) => (schema(api, "CreateMappingBody")["required"] as unknown as string[]).push("filter"),
      `POST ${mappings}: the body.filter is asked for now`,
    ],
  ])("is noticed: %s", (_, change, sentence) => {
    const next = copy();

    change(next);

    expect(breakingChanges(document, next)).toContain(sentence);
  });

  test("is welcome when it adds", () => {
    const next = copy();
    Object.assign(schema(next, "ReadHealthData")["properties"], { more: { type: "string" } });

    expect(breakingChanges(document, next)).toEqual([]);
  });
});

function schema(api: OpenApi, name: string): Record<"properties" | "required", object> {
  return api.components.schemas[name] as Record<"properties" | "required", object>;
}
