import { expect, test, vi } from "vitest";
import type { EngineReport } from "../../lib/health/ports.ts";
import { readHealth } from "../../lib/health/read-health.ts";
import { FRESH_BUDGET } from "../../lib/model/calls/budget.ts";
import type { FailureReason } from "../../lib/model/engine.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { Signs } from "../../lib/model/stall.ts";
import type { Scope } from "../../lib/model/workspace/token.ts";
import { DatabaseUnavailable } from "../../lib/monitoring/ports.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";

const NOW = new Date("2026-11-20T12:00:00Z");

const mapping = (id: string, active: boolean): Mapping => ({
  ...mappingOf(contactShape({ mappingId: id })),
  active,
  provisioning: { state: "ready", version: 1 } as Mapping["provisioning"],
});

const report = (mappingId: string, more: Partial<EngineReport> = {}): EngineReport => ({
  ...{ mappingId, broken: false, failure: null, message: null, said: null, failingSince: null, brokenSince: null },
  ...{ restUntil: null, callSize: null, rewoundAt: null },
  ...more,
});
const broken = (mappingId: string, failure: FailureReason = "engine_fault") =>
  report(mappingId, { broken: true, failure, brokenSince: NOW });

/** A mapping whose cycles have not come for an hour. */
const late = (id: string): Signs => ({
  ...{ id, rows: 10, inboundErrors: 0, version: 1, isRunning: false, unsentSince: null, rewound: 0 },
  lastCycleAt: NOW.getTime() - 3_600_000,
});
const wellAt = (id: string): Signs => ({ ...late(id), lastCycleAt: NOW.getTime() - 5_000 });

interface Reported {
  readonly mappings: readonly Mapping[];
  readonly reports: readonly EngineReport[];
  readonly signs: readonly Signs[];
  readonly open?: () => Promise<never>;
  readonly scopes?: readonly Scope[];
}

/** The health of a connected workspace, as its database, its org and its engine report it. */
function healthOf({ mappings, reports, signs, open, scopes = ["admin"] }: Reported) {
  const database = {
    upgrade: async () => null,
    check: async () => ({ latencyMilliseconds: 3, lastRunAt: NOW, waitingRows: 0, backlogs: [] }),
    signs: async () => signs,
  };
  const needs = {
    mappings: { list: async () => ({ generation: 1, mappings }) },
    monitoring: { open: open ?? (async () => database) },
    engine: { read: async () => ({ mappings: reports, usage: null, budget: FRESH_BUDGET, upgradeRefusal: null }) },
    reach: { isReachable: async () => true },
    counters: { queueDepth: async () => ({ rows: 7 }) },
    pauses: { find: async () => null },
    webhooks: { list: async () => [] },
    now: () => NOW,
  } as unknown as Parameters<typeof readHealth>[0];
  const connections = {
    postgres: { url: "postgres://db.example/x", schema: "s" },
    salesforce: { accessToken: "t", organizationId: "00D" },
  };
  const workspace = { id: "ws_1", open: async () => connections } as unknown as Parameters<typeof readHealth>[1];
  return readHealth(needs, workspace, scopes);
}

const [ON, OFF] = [mapping("map_on", true), mapping("map_off", false)];

const [on, lateOn] = [wellAt("map_on"), late("map_on")];

test.each([
  ["running", "all is well", [ON], [report("map_on")], [on]],
  ["broken", "an active mapping is", [ON], [broken("map_on")], [on]],
  ["running", "one was broken and is paused since", [ON, OFF], [report("map_on"), broken("map_off")], [on]],
  ["paused", "the only one was broken and is paused since", [OFF], [broken("map_off")], [wellAt("map_off")]],
  ["running", "one was broken and is deleted since", [ON], [report("map_on"), broken("map_gone")], [on]],
  ["degraded", "an active mapping does not move", [ON], [], [lateOn]],
  ["running", "a paused one does not move", [ON, OFF], [], [on, late("map_off")]],
  ["running", "a deleted one does not move", [ON], [], [on, late("map_gone")]],
] as const)("the sync is %s when %s", async (status, _, mappings, reports, signs) => {
  expect((await healthOf({ mappings, reports, signs })).sync.status).toBe(status);
});

test.each([
  ["error", "salesforce_authorization"],
  ["error", "salesforce_limit"],
  ["error", "api_disabled"],
  ["degraded", "salesforce_unavailable"],
  ["degraded", "org_read_only"],
  ["degraded", "org_storage_full"],
] as const)(
  "Salesforce is %s for %s of an active mapping, and healthy again once that one is paused",
  async (status, failure) => {
    const reports = [report("map_off", { failure }), report("map_on")];
    const signs = [wellAt("map_on")];

    const active = await healthOf({ mappings: [ON, { ...OFF, active: true }], reports, signs });
    const paused = await healthOf({ mappings: [ON, OFF], reports, signs });

    expect([active.sf.status, paused.sf.status]).toEqual([status, "healthy"]);
  },
);

test("a database is asked three times before it is down; the rows that wait are then those counted last", async () => {
  const open = vi.fn(() => Promise.reject(new DatabaseUnavailable("query", "it hangs", null)));
  const { pg, sync } = await healthOf({ mappings: [ON], reports: [], signs: [], open });
  expect([open.mock.calls.length, pg.status, sync.pending_rows]).toEqual([3, "error", 7]);
});

test.each([
  ["admin", "PostgreSQL db.example:5432 does not answer as it should"],
  ["operate", "PostgreSQL does not answer as it should"],
  ["read", "PostgreSQL does not answer as it should"],
] as const)("a token of scope %s reads of a database that does not answer: %s", async (scope, message) => {
  const open = () => Promise.reject(new DatabaseUnavailable("query", "it hangs", null));
  const { incidents } = await healthOf({ mappings: [ON], reports: [], signs: [], open, scopes: [scope] });
  expect(incidents).toMatchObject([{ message }]);
});
