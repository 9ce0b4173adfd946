import { describe, expect, test } from "vitest";
import { databaseHealth, orgHealth, syncStatus } from "../../lib/health/judge.ts";
import type { FailureReason } from "../../lib/model/engine.ts";

const answered = (latencyMilliseconds: number, failedTries = 0) => ({
  answered: true as const,
  latencyMilliseconds,
  failedTries,
});

describe("the database is", () => {
  test.each([
    ["unknown", "never connected", null],
    ["healthy", "answering in under 500 ms", answered(499)],
    ["degraded", "answering in 500 ms or more", answered(500)],
    ["degraded", "answering after a failed check", answered(3, 1)],
    ["error", "not answering", { answered: false as const }],
  ])("%s when %s", (health, _, check) => {
    expect(databaseHealth(check)).toBe(health);
  });
});

describe("the org is", () => {
  const well = { everConnected: true, reachable: true, reports: [], usage: { used: 10, limit: 100 } };
  const failing = (failure: FailureReason) => [{ mappingId: "map_1", broken: false, failure }];

  test.each([
    ["unknown", "never connected", { ...well, everConnected: false }],
    ["healthy", "answering", well],
    ["healthy", "not counted yet", { ...well, usage: null }],
    ["degraded", "out of reach", { ...well, reachable: false }],
    ["healthy", "at 69 % of its calls", { ...well, usage: { used: 69, limit: 100 } }],
    ["degraded", "at 70 % of its calls", { ...well, usage: { used: 70, limit: 100 } }],
    ["error", "at its limit", { ...well, usage: { used: 100, limit: 100 } }],
    ["healthy", "not what a cycle failed at", { ...well, reports: failing("postgres_unavailable") }],
  ])("%s when %s", (health, _, signs) => {
    expect(orgHealth(signs)).toBe(health);
  });
});

describe("the sync is", () => {
  const report = (broken: boolean) => ({
    ...{ mappingId: "map_1", broken, failure: broken ? ("engine_fault" as const) : null },
  });
  const signs = { connected: true, paused: false, activeMappings: 1, reports: [], stalled: false };

  test.each([
    ["unknown", "one side was never connected", { connected: false }],
    ["paused", "no mapping is active", { activeMappings: 0 }],
    ["running", "a cycle failed once", { reports: [report(false)] }],
    ["paused", "a person has stopped it", { paused: true, activeMappings: 2, reports: [report(true)] }],
    ["paused", "it does not move, for a person stopped it", { paused: true, stalled: true }],
    ["broken", "another one does not move", { activeMappings: 2, reports: [report(true)], stalled: true }],
  ])("%s when %s", (status, _, more) => {
    expect(syncStatus({ ...signs, ...more })).toBe(status);
  });
});
