import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
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
