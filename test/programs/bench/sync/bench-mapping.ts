import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { connectOrg } from "../../../../lib/adapters/salesforce/connect-org.ts";
import { systemClock } from "../../../../lib/local/clock.ts";
import { FRESH_BUDGET } from "../../../../lib/model/calls/budget.ts";
import type { Mapping } from "../../../../lib/model/mapping/mapping.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import type { Shared } from "../../../../lib/sync/cycle/cycle.ts";
import type { Salesforce } from "../../../../lib/sync/ports/cycle-ports.ts";
import { runCycle } from "../../../../lib/sync/run-cycle.ts";
import { describeShape } from "../../../../lib/sync/schema/describe-shape.ts";
import { NOTHING_SHARED } from "../../../support/doubles/nothing-shared.ts";
import { mappingOf } from "../../../support/worlds/shapes.ts";
import { MAPPED_FIELDS } from "./bench-objects.ts";

/** A mapping that shares nothing with any other, and probes for itself. */
export const ALONE: Shared = { ...NOTHING_SHARED, claimProbe: async () => true };

/** Both ways, by its external id. */
export function benchMapping(object: string): Mapping {
  const table = object.toLowerCase();
  const base = { mappingId: `map_${table}`, table, sfObject: object, direction: "bidirectional" } as const;
  const shape = { ...base, configVersion: 1, columns: [], upsertField: "Key__c", conflictPolicy: "salesforce_wins" };
  return { ...mappingOf(shape as unknown as TableShape), fields: MAPPED_FIELDS };
}

/** The adapter to an org whose session is open. */
export function salesforceOf(connection: SalesforceConnection): Salesforce {
  const refuse = async () => {
    throw new Error("the benchmark's session has ended");
  };
  return connectOrg({ current: async () => connection, renew: refuse }, new AbortController().signal);
}

/** Makes the mapping's table in a database, with capture, or without it and with the same indexes. */
export async function provisionTable(
  url: string,
  org: SalesforceConnection,
  object: string,
  { captured }: { readonly captured: boolean },
): Promise<TableShape> {
  const mapping = benchMapping(object);
  const shape = await describeShape(salesforceOf(org), mapping, "salesforce");
  await provision(url, shape, { mapping, captured });
  return shape;
}

/** Makes the table of a shape, with capture or without it. */
export async function provision(
  url: string,
  shape: TableShape,
  { schema = "salesforce", captured = true, mapping = mappingOf(shape) } = {},
): Promise<void> {
  const provisioner = createProvisioner({ url, schema }, () => new Date());
  await provisioner.provision(mapping, shape);
  if (!captured) await provisioner.retire(mapping);
}

type OpenStore = ReturnType<typeof createCycleStores>;
export type Store = ReturnType<OpenStore>;
export type Lease = Extract<Awaited<ReturnType<Store["begin"]>>, { held: true }>["lease"];

/** One cycle leaves its connection to the next. */
export const openStore: OpenStore = createCycleStores(() => new Date());

/** Acquires the lease of a mapping's cycle. */
export async function beginCycle(
  store: Store,
  { mappingId, configVersion = 1 }: { readonly mappingId: string; readonly configVersion?: number },
): Promise<Lease> {
  const who = { work: "cycle", owner: "bench", slot: null, leaseSeconds: 600 } as const;
  const begun = await store.begin({ ...who, mappingId, configVersion });
  if (!begun.held) throw new Error(`the lease is not free: ${begun.why}`);
  return begun.lease;
}

/** How a cycle ends that has done nothing. */
export const IDLE_END = { marks: {}, pulledAt: null, apiCalls: {}, error: null } as const;

/** Claims so many changes and gives them back; the milliseconds that the claim took. */
export async function timedClaim(store: Store, lease: Lease, count: number): Promise<number> {
  const began = performance.now();
  const claimed = await store.claim(lease, count);
  const took = performance.now() - began;
  if (claimed.length !== count) throw new Error(`${claimed.length} of ${count} changes were claimed`);
  await store.release(
    lease,
    claimed.map(({ id }) => id),
  );
  return took;
}

/** A whole cycle of a mapping, as its worker runs it; how many rows were accepted, and its calls by kind. */
export async function cycleOf(
  object: string,
  store: Store,
  org: SalesforceConnection,
  { clock = systemClock, mostSeconds = 900 } = {},
) {
  const salesforce = salesforceOf(org);
  const report = await runCycle(
    { store, salesforce, shared: ALONE, clock, random: Math.random },
    {
      ...{ kind: "poll", saves: "all", callSize: 200, hasToPull: null, highWater: [], rewoundAt: null, slot: null },
      ...{ mapping: benchMapping(object), writers: async () => [org.userId], budget: FRESH_BUDGET, owner: "bench" },
      deadline: clock.now() + mostSeconds * 1000,
    },
  );
  await store.close();
  if (!report.ran || report.error) throw new Error("a cycle failed", { cause: report.ran ? report.error : report });
  return { accepted: report.tally.accepted, calls: salesforce.calls() };
}
