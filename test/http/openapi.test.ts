import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { Described } from "../../lib/http/endpoint.ts";
import type { OpenApi } from "../../lib/http/openapi/open-api.ts";
import { ROUTES, type Route, type RouteName } from "../../lib/http/routes.ts";
import { DESCRIPTIONS } from "../../lib/infra/describe-api/descriptions.ts";
import { describeApi } from "../../lib/infra/describe-api/document.ts";
import { readEndpoints } from "../../lib/infra/describe-api/read-endpoints.ts";
import { typesOf } from "../../lib/infra/describe-api/typescript.ts";
import { errorsPage, pageOf } from "../../lib/infra/pages/api-pages.ts";
import { STATUS_OF } from "../../lib/model/failure.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { breakingChanges } from "./breaking-changes.ts";

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
  test("is built from the route table and the schemas that validate: `npm run openapi` brings it up to date", () => {
    expect(JSON.parse(kept("openapi.json"))).toEqual(JSON.parse(JSON.stringify(document)));
    expect(kept("types.ts")).toBe(typesOf(document));
  });

  test("has every row of the route table, each with a sentence and the shape of its answer", () => {
    const plain = new Set<string>(["read-metrics", "ring"]);
    const missing = [...endpoints].flatMap(([name, { summary, output }]) => [
      ...(summary ? [] : [`${name} has no summary`]),
      ...(output || plain.has(name) ? [] : [`${name} has no output`]),
    ]);

    expect(missing).toEqual([]);
    for (const [name, { method, path }] of Object.entries<Route>(ROUTES)) {
      expect(operationIn(document, path, method.toLowerCase())?.operationId).toBe(name);
    }
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

describe("the description explains", () => {
  longTest("Redocly finds nothing in it, by its strict rules", async () => {
    const file = join(HERE, "../../lib/http/openapi/openapi.json");
    const config = await createConfig({ extends: ["recommended-strict"], telemetry: "off" });

    const found = await lintFromString({ source: kept("openapi.json"), absoluteRef: file, config });

    expect(found.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test("has a sentence for each property, parameter and header, and no sentence that nothing uses", () => {
    const used = new Set<string>();
    const mute: string[] = [];
    const walk = (part: unknown, place: string): void => {
      if (typeof part !== "object" || part === null) return;
      for (const [name, property] of Object.entries((part as { properties?: object }).properties ?? {})) {
        const { description = "" } = property as { description?: string };
        if (!/^.{4,}[.]$/.test(description)) mute.push(`${place}.${name}`);
        used.add(description);
      }
      for (const [name, inner] of Object.entries(part)) walk(inner, `${place}.${name}`);
    };
    walk(document, "");
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const { parameters } of Object.values(methods)) {
        for (const { name, description } of parameters) {
          if (!description.endsWith(".")) mute.push(`${path} ${name}`);
          used.add(description);
        }
      }
    }

    expect(mute).toEqual([]);
    expect(Object.entries(DESCRIPTIONS).filter(([, text]) => !used.has(text))).toEqual([]);
  });

  test("names the headers of answers, the 405 of each path and every code with its remedy, as the page of errors does", () => {
    const activity = operationIn(document, "/api/v1/t/{workspace_id}/monitoring/activity", "get");
    const { headers } = (activity?.responses["200"] ?? {}) as { headers: object };
    const page = errorsPage();

    expect(Object.keys(headers)).toEqual(["X-Request-Id", "RateLimit", "RateLimit-Policy", "Warning"]);
    expect(Object.keys(document.components.responses["TooMany"]?.["headers"] as object)).toContain("Retry-After");
    for (const methods of Object.values(document.paths)) {
      for (const { responses, tags } of Object.values(methods)) {
        expect(responses["405"]).toBeDefined();
        expect(document.tags.map(({ name }) => name)).toContain(tags[0]);
      }
    }
    for (const code of Object.keys(STATUS_OF)) {
      expect(page).toContain(`<article id="${code}">`);
      expect(JSON.stringify(document.components.responses)).toContain(`\`${code}\`: `);
    }
  });
});

describe("a change of the API", () => {
  test("breaks no client of the released one", () => {
    expect(breakingChanges(document)).toEqual([]);
  });

  test("is noticed where it takes something away or asks for more, and allowed where it adds", () => {
    const mappings = "/api/v1/t/{workspace_id}/mappings";
    const [gone, asked, more] = [copy(), copy(), copy()];
    Reflect.deleteProperty(schema(gone, "ReadHealthData")["properties"], "pg");
    (schema(asked, "CreateMappingBody")["required"] as unknown as string[]).push("filter");
    Object.assign(schema(more, "ReadHealthData")["properties"], { more: { type: "string" } });

    const health = "GET /api/v1/t/{workspace_id}/health";
    expect(breakingChanges(gone, document)).toContain(`${health}: the answer.data.pg is gone`);
    expect(breakingChanges(asked, document)).toContain(`POST ${mappings}: the body.filter is asked for now`);
    expect(breakingChanges(more, document)).toEqual([]);
  });
});

function schema(api: OpenApi, name: string): Record<"properties" | "required", object> {
  return api.components.schemas[name] as Record<"properties" | "required", object>;
}
