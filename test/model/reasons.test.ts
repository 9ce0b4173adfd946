import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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

test("the runbook has each reason with the remedy that the operator gets", () => {
  const runbook = readFileSync(join(import.meta.dirname, "../../lib/infra/RUNBOOK.md"), "utf8");

  for (const reason of FAILURE_REASONS) expect(runbook).toContain(`| \`${reason}\` | ${reasonFor(reason).remedy} |`);
  expect(runbook).toMatch(/^\| `org_read_only` \| wait until Salesforce's maintenance ends/m);
});
