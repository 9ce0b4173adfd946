import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { mappings } from "../../../../functions/services/composition.ts";
import { entryOf } from "../../../support/worlds/carry-out.ts";
import { startHostedBridge } from "../../../support/worlds/hosted-bridge.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { type Ask, bridgeAsk, orgAsk } from "../../ask.ts";
import type { Bench, BenchOrg, Database } from "./bench.ts";
import { MAPPED_FIELDS } from "./bench-objects.ts";

/** A workspace whose mapping the deployed bundles run, on the real beat. */
export interface HostedMapping extends Database {
  readonly org: BenchOrg;
  readonly baseUrl: string;
  /** A request of its API, as its administrator. */
  readonly call: Ask;
}

const LOOK_MILLISECONDS = 40;
const PATIENCE_MILLISECONDS = 60_000;

/** Measures on a mapping of this object, both ways, whose first load has ended. */
export async function onHostedMapping<Result>(
  bench: Bench,
  { object, notify }: { readonly object: string; readonly notify: boolean },
  measure: (hosted: HostedMapping) => Promise<Result>,
): Promise<Result> {
  const org = await bench.createOrg({ [object]: 10 });
  const { url, client } = await bench.createDatabase();
  const bridge = await startHostedBridge({ log: () => undefined });
  try {
    const { baseUrl } = bridge.host;
    const postgres = { url, schema: "salesforce" };
    const workspace = await createTestWorkspace({ postgres, salesforce: org.connection });
    const call = bridgeAsk(baseUrl, workspace);
    const mapping = entryOf({ object, fields: MAPPED_FIELDS, upsertField: "Key__c", notify });
    await call("POST", "/config/import", { version: 1, mappings: [mapping] });
    await until(async () => {
      const { rows } = await client.query("SELECT FROM salesforce._bridge_state WHERE position IS NOT NULL");
      const all = (await mappings().list(workspace.id)).mappings;
      return rows.length === 1 && all.every(({ provisioning }) => provisioning.state === "ready");
    });
    return await measure({ url, client, org, baseUrl, call });
  } finally {
    await bridge.close();
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MILLISECONDS;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error("the mapping was not ready within a minute");
    await pause(LOOK_MILLISECONDS);
  }
}

/** From one side to the other: how a change is committed, and which of those the other side shows. */
export interface Way {
  /** Resolves when the change is committed. */
  make(key: string): Promise<void>;
  look(keys: readonly string[]): Promise<readonly string[]>;
}

/** When a change was committed, and when it was seen on the other side (milliseconds of `performance.now`). */
export interface Change {
  readonly committedAt: number;
  readonly seenAt: number;
}

/** Looked for at once, the oldest first: more names would not fit into a URL. */
const LOOKED_FOR = 200;

/**
 * Makes so many changes a minute until the signal, each at a random time of its part of the minute, and polls the other
 * side for all of them. Resolves when the last one was seen.
 */
export async function followChanges(
  { make, look }: Way,
  perMinute: number,
  signal: AbortSignal,
): Promise<readonly Change[]> {
  const began = performance.now();
  const open = new Map<string, number>();
  const changes: Change[] = [];
  let madeAt = Number.POSITIVE_INFINITY;
  const makeAll = async () => {
    for (let part = 0; ; part += 1) {
      const time = began + ((part + Math.random()) * 60_000) / perMinute;
      await pause(Math.max(0, time - performance.now()));
      if (signal.aborted) break;
      const key = randomUUID();
      await make(key);
      open.set(key, performance.now());
    }
    madeAt = performance.now();
  };
  const lookForAll = async () => {
    while (madeAt === Number.POSITIVE_INFINITY || open.size > 0) {
      if (performance.now() > madeAt + PATIENCE_MILLISECONDS) throw new Error(`${open.size} changes never arrived`);
      const keys = [...open.keys().take(LOOKED_FOR)];
      const seen = keys.length > 0 ? await look(keys) : [];
      for (const key of seen) {
        changes.push({ committedAt: open.get(key) ?? Number.NaN, seenAt: performance.now() });
        open.delete(key);
      }
      if (seen.length < LOOKED_FOR) await pause(LOOK_MILLISECONDS);
    }
  };
  await Promise.all([makeAll(), lookForAll()]);
  return changes;
}

/** From commit to sight, of the changes that were committed between two times. */
export const secondsOf = (changes: readonly Change[], from = 0, until = Number.POSITIVE_INFINITY): number[] =>
  changes
    .filter(({ committedAt }) => committedAt >= from && committedAt < until)
    .map(({ committedAt, seenAt }) => (seenAt - committedAt) / 1000);

/** Rows of a bench object's table that become records. */
export const rowsToRecords = ({ client, org }: HostedMapping, object: string): Way => ({
  make: async (key) => {
    await client.query(`INSERT INTO salesforce.${object.toLowerCase()} (name, key__c) VALUES ($1, $1)`, [key]);
  },
  look: async (keys) => {
    const soql = `SELECT Key__c FROM ${object} WHERE Key__c IN (${keys.map((key) => `'${key}'`).join(", ")})`;
    const asked = `/query?q=${encodeURIComponent(soql)}`;
    const { records } = await orgAsk(org.url, org.token)<{ records: { Key__c: string }[] }>("GET", asked);
    return records.map(({ Key__c }) => Key__c);
  },
});

/** Records of a bench object that become rows. */
export const recordsToRows = ({ client, org }: HostedMapping, object: string): Way => ({
  make: async (key) => {
    await orgAsk(org.url, org.token)("POST", `/sobjects/${object}`, { Name: key, Key__c: key });
  },
  look: async (keys) => {
    const { rows } = await client.query<{ key__c: string }>(
      `SELECT key__c FROM salesforce.${object.toLowerCase()} WHERE key__c = ANY ($1)`,
      [keys],
    );
    return rows.map(({ key__c }) => key__c);
  },
});
