import { expect, test } from "vitest";
import { checkDescribed } from "../support/checks/described-api.ts";

const HEALTH = "/api/v1/t/ws_1/health?verbose";
const good = {
  pg: { status: "healthy", latency_ms: 3 },
  sf: { status: "healthy", org_id: null },
  sync: { status: "running", last_run_at: "2026-01-01T00:00:00.000Z", pending_rows: 1 },
};
const given = (status: number, allow: string | null, body: object) =>
  [
    new Response(null, { status, headers: { "Content-Type": "application/json", ...(allow && { Allow: allow }) } }),
    JSON.stringify(body),
  ] as const;
const answer = (data: object) => given(200, null, { success: true, data });
const refused = (status: number, code: string, allow: string | null = null) =>
  given(status, allow, { success: false, error: { code, message: "in words" } });

test("an answer that is as the API describes it passes, a refusal too, and what is no endpoint is refused", () => {
  checkDescribed("GET", HEALTH, ...answer(good));
  checkDescribed("GET", HEALTH, ...refused(429, "RATE_LIMITED"));
  checkDescribed("GET", "/api/v1/nothing", ...refused(404, "NOT_FOUND"));
  checkDescribed("PUT", HEALTH, ...refused(405, "METHOD_NOT_ALLOWED", "GET"));
});

test.each([
  ["a field is too many", "GET", HEALTH, answer({ ...good, more: 1 })],
  ["the code belongs to another status", "GET", HEALTH, refused(403, "UNAUTHORIZED")],
  ["an endpoint is not described", "GET", "/api/v1/t/ws_1/surprise", answer({})],
])("a test in which %s fails", (_, method, path, wrong) => {
  expect(() => checkDescribed(method, path, ...wrong)).toThrow("answers what is not described");
});
