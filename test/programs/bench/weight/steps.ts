import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, say } from "../figures.ts";
import type { Bench } from "../sync/bench.ts";
import { provision } from "../sync/bench-mapping.ts";
import { cycleAndBeat, takenBy, total } from "./statements.ts";

const CYCLES = 20;
/** Rows of a backlog that one statement inserts. */
const AT_ONCE = 500_000;

const STEPS = {
  "begin of a cycle": /AS same_version/,
  "its claim of 200": /horizon AS MATERIALIZED/,
  finish: /AS still_ours/,
  "beat without work": /AS to_tidy/,
  "end of one": /AS free|WITH free AS \( SELECT s\.mapping_id, least/,
  "count of what waits": /AS new_ones/,
} as const;

/** What the rows of the log are, by columns and their values. */
const KINDS = {
  NEW: ["", ""],
  settled: [", state, processed_at, last_operation", ", 'SUCCESS', now(), 'SUCCESS'"],
} as const;

/** PostgreSQL's time for the steps of cycles and of idle beats beside growing numbers of NEW or settled changes. */
export async function measureKnees(
  bench: Bench,
  kind: keyof typeof KINDS,
  sizes: readonly number[],
): Promise<Figure[]> {
  const database = await bench.createDatabase();
  const { client, url } = database;
  for (const table of ["busy", "quiet"]) await provision(url, contactShape({ table, mappingId: table }));
  const [columns, values] = KINDS[kind];
  const figures: Figure[] = [];
  let rows = 0;
  for (const size of sizes) {
    for (; rows < size; rows = Math.min(rows + AT_ONCE, size))
      await client.query(
        `INSERT INTO salesforce._trigger_log (action, table_name, record_id, old, "values"${columns})
         SELECT 'UPDATE', 'busy', i, '{"lastname": "a"}', '{"lastname": "b"}'${values} FROM generate_series($1::int, $2::int) i`,
        [rows + 1, Math.min(rows + AT_ONCE, size)],
      );
    await client.query("ANALYZE salesforce._trigger_log");
    let now = Date.now();
    const store = createCycleStores(() => new Date(now))({ url, schema: "salesforce" });
    const taken = await takenBy(bench, database, async () => {
      for (let cycle = 0; cycle < CYCLES; cycle++) {
        now += 3_600_000; // each count is due
        await cycleAndBeat(store, ["busy"], ["quiet"], now);
      }
    });
    await store.close();
    for (const [step, words] of Object.entries(STEPS)) {
      const own = taken.filter(({ text }) => words.test(text.replaceAll(/\s+/g, " ")));
      const value = (total(own, "planned") + total(own, "executed")) / Math.max(1, total(own, "statements"));
      const name = `${size.toLocaleString("en")} ${kind}: ${step}`;
      figures.push({ name, value, unit: "ms", ...(/^(finish|beat|end)/.test(step) && { atMost: 50 }) });
    }
    say(`${size} ${kind}`);
  }
  return figures;
}

const FIELDS = 12;
const FIRST_BEATS = 60;
/** As many as from one checkpoint to the next, after which each page is written whole once. */
const BEATS = 30;
const BEATS_A_DAY = 8_640;

/** The WAL of idle beats that come in one message, with the calls of their probe, for these numbers of mappings. */
export async function measureNotes(bench: Bench, counts: readonly number[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of counts) {
    const wal = (await walOfBeats(bench, count)) / BEATS / count;
    figures.push({
      ...{ name: `idle beats of ${count} mappings in one message: WAL a mapping and day`, unit: "MB" },
      ...{ value: (wal * BEATS_A_DAY) / 1e6, ...(count >= 10 && { atMost: 1 }) },
    });
  }
  return figures;
}

async function walOfBeats(bench: Bench, count: number): Promise<number> {
  const database = await bench.createDatabase();
  const { url, client } = database;
  const columns = Array.from({ length: FIELDS }, (_, at) => column(`Field${at}__c`));
  const ids = Array.from({ length: count }, (_, at) => `map_${at}`);
  for (const mappingId of ids) await provision(url, contactShape({ table: mappingId, mappingId, columns }));
  await client.query("UPDATE salesforce._bridge_state SET position = now(), slow = now(), deleted = now()");
  let now = Date.now();
  const store = createCycleStores(() => new Date(now))({ url, schema: "salesforce" });
  const beats = async (many: number) => {
    for (let at = 0; at < many; at++) {
      now += 10_000;
      const states = await store.syncStates(ids);
      await store.addCalls(ids[0] ?? "", { REST: 1 });
      const unnoted = states.flatMap(({ mappingId, noted }) => (noted ? [] : [mappingId]));
      if (unnoted.length === 0) continue;
      await store.endIdle({
        slot: Math.floor(now / 1000),
        beats: unnoted.map((mappingId) => ({ mappingId, configVersion: 1 })),
        unchanged: { mappingIds: unnoted, at: new Date(now), late: [] },
      });
    }
  };
  await beats(FIRST_BEATS);
  await client.query("VACUUM"); // what provisioning has left in the catalog
  await client.query("CHECKPOINT");
  const wal = total(await takenBy(bench, database, () => beats(BEATS)), "walBytes");
  await store.close();
  return wal;
}
