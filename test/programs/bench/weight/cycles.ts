import type { Image } from "../../../../lib/model/record/record.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import type { Figure } from "../figures.ts";
import type { Bench, Database } from "../sync/bench.ts";
import { beginCycle, IDLE_END, openStore, provision } from "../sync/bench-mapping.ts";
import { type TakenBy, takenBy, total } from "./statements.ts";

const ROWS = 200;
const FIRST_CYCLES = 6;
const CYCLES = 60;

/** The steps of a cycle, by words of their statements. */
const STEPS = {
  capture: /^UPDATE salesforce\.contact SET lastname/,
  begin: /AS same_version/,
  claim: /json_build_object\([^)]*found|whole AS MATERIALIZED|WITH pending AS|enable_bitmapscan/,
  sent: /marked AS \(/,
  settle: /settled AS \(|SET CONSTRAINTS/,
  echo: /judged|UNLOGGED|_bridge_echo/,
  finish: /AS still_ours/,
  count: /AS new_ones/,
  lock: /row_security_active/,
  settings: /^(SET|SELECT pg_catalog.set_config)/,
} as const;

/** Cycles that push so many changed rows each and get their own echo: planning, executing and WAL by their steps. */
export async function measureCycles(bench: Bench): Promise<Figure[]> {
  const database = await bench.createDatabase();
  await provision(database.url, SHAPE);
  await fill(database);
  const cycle = cycles(database);
  for (let round = 0; round < FIRST_CYCLES; round++) await cycle(round);
  await database.client.query("VACUUM ANALYZE");
  const taken = await takenBy(bench, database, async () => {
    for (let round = 0; round < CYCLES; round++) await cycle(FIRST_CYCLES + round);
  });
  return figuresOf(taken);
}

const SHAPE = contactShape({ upsertField: "Key__c" });

function cycles({ client, url }: Database): (round: number) => Promise<void> {
  const store = openStore({ url, schema: "salesforce" });
  let at = Date.now();
  return async (round) => {
    await client.query(`UPDATE salesforce.contact SET lastname = 'Round ${round}' WHERE id <= ${ROWS}`);
    const lease = await beginCycle(store, SHAPE);
    const claimed = await store.claim(lease, ROWS);
    const ids = claimed.map(({ id }) => id);
    await store.markSent(lease, `batch ${round}`, ids, 60);
    at += 1000;
    const answeredAt = new Date(at);
    await store.settle(
      lease,
      claimed.map(({ id, recordId, sfid }) => ({
        ...{ kind: "accepted", action: "UPDATE", changeIds: [id], recordId, sfid, answeredAt },
      })),
    );
    const stamp = { isDeleted: false, systemModstamp: new Date(at - 500), createdAt: null };
    const images = claimed.map(({ recordId, sfid }) => {
      const values = { email: null, key__c: `K${recordId}`, lastname: `Round ${round}`, name: null };
      return { ...stamp, sfid: sfid ?? "", values } as unknown as Image;
    });
    const marks = { position: new Date(at - 500) };
    await store.apply(lease, { images, readAt: new Date(at + 10), lane: "fast", marks });
    const count = { ended: "well", pulled: 0, accepted: ROWS, refused: 0 } as const;
    await store.finish(lease, { ...IDLE_END, pulledAt: new Date(at), apiCalls: { SOAP: 1 }, count });
  };
}

function figuresOf(taken: readonly TakenBy[]): Figure[] {
  const left = new Set(taken);
  const steps = Object.entries(STEPS).map(([step, words]) => {
    const own = [...left].filter(({ text }) => words.test(text.trim()));
    for (const one of own) left.delete(one);
    return [step, own] as const;
  });
  return [...steps, ["all other", [...left]] as const, ["all", taken] as const].flatMap(([step, own]): Figure[] => [
    { name: `${step}: statements a cycle`, value: total(own, "statements") / CYCLES, unit: "" },
    { name: "  planning", value: total(own, "planned") / CYCLES, unit: "ms" },
    { name: "  executing", value: total(own, "executed") / CYCLES, unit: "ms" },
    { name: "  WAL a pushed change", value: total(own, "walBytes") / CYCLES / ROWS, unit: "B" },
  ]);
}

async function fill({ client }: Database): Promise<void> {
  await client.query("SET session_replication_role = replica");
  await client.query(
    `INSERT INTO salesforce.contact (id, sfid, key__c, lastname, systemmodstamp)
     SELECT i, '003' || lpad(i::text, 12, '0') || 'AAA', 'K' || i, 'Lovelace', now() - interval '1 day' FROM generate_series(1, 10000) i`,
  );
  await client.query("SET session_replication_role = origin");
  await client.query(
    "UPDATE salesforce._bridge_state SET position = now() - interval '1 day', slow = now(), deleted = now()",
  );
}
