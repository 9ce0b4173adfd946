import { expect, test } from "vitest";
import { checksBeforeSave, isChecked } from "../../../lib/model/calls/check-before-save.ts";

test.each([
  ["bidirectional", "salesforce_wins", "auto", true],
  ["bidirectional", "salesforce_wins", "off", false],
  ["bidirectional", "latest_wins", "auto", true],
  ["bidirectional", "latest_wins", "off", false],
  ["bidirectional", "postgres_wins", "auto", false],
  ["bidirectional", "postgres_wins", "on", true],
  ["bidirectional", "postgres_wins", "off", false],
  // Nothing is pulled that a save could overwrite unread.
  ["pg_to_sf", "salesforce_wins", "auto", false],
  ["pg_to_sf", "latest_wins", "on", false],
] as const)("a %s mapping of %s with check_before_save %s looks first: %s", (direction, policy, check, looks) => {
  expect(checksBeforeSave({ syncDirection: direction, conflictPolicy: policy, checkBeforeSave: check })).toBe(looks);
});

const now = Date.parse("2026-11-20T10:00:00Z");

test.each([
  ["1.999 s ago", now - 1_999, true],
  ["2 s ago", now - 2_000, false],
  ["never", 0, false],
])("records that were looked at %s are fresh enough: %s", (_, checkedAt, isFresh) => {
  expect(isChecked(checkedAt, now)).toBe(isFresh);
});
