import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EVENTS } from "../../lib/console/pages/webhooks/events.ts";
import { describeApi } from "../../lib/infra/describe-api/document.ts";
import { readEndpoints } from "../../lib/infra/describe-api/read-endpoints.ts";
import { FAILURE_REASONS, reasonFor } from "../../lib/model/engine.ts";

/** The reasons of `sync.broken` on the wire, by hand. */
const REASONS = [
  "salesforce_authorization",
  "salesforce_limit",
  "salesforce_unavailable",
  "salesforce_schema",
  "salesforce_request",
  "salesforce_too_large",
  "api_disabled",
  "org_read_only",
  "org_storage_full",
  "postgres_unavailable",
  "capture_off",
  "rows_hidden",
  "column_gone",
  "table_gone",
  "first_match",
  "function_died",
  "database_rewound",
  "config_behind",
  "engine_fault",
];

test("the reasons of sync.broken are these", () => {
  expect([...FAILURE_REASONS].toSorted()).toEqual(REASONS.toSorted());
});

test("the API describes a mapping's failure by these reasons", async () => {
  const { schemas } = describeApi(await readEndpoints()).components;

  for (const schema of ["ReadMappingData", "ListMappingStatesData"]) {
    const text = JSON.stringify(schemas[schema]);
    for (const reason of REASONS) expect(text, `${schema}, ${reason}`).toContain(`"${reason}"`);
  }
});

test("the console's sample of sync.broken has one of these reasons", () => {
  const sample = EVENTS.find(({ type }) => type === "sync.broken")?.sample;

  expect(sample).toMatchObject({ reason: "salesforce_authorization", message: expect.stringContaining("connect the") });
});

test("the runbook has each reason with the remedy that the operator gets", () => {
  const runbook = readFileSync(join(import.meta.dirname, "../../lib/infra/RUNBOOK.md"), "utf8");

  for (const reason of FAILURE_REASONS) expect(runbook).toContain(`| \`${reason}\` | ${reasonFor(reason).remedy} |`);
  expect(runbook).toMatch(/^\| `org_read_only` \| wait until Salesforce's maintenance ends/m);
});
