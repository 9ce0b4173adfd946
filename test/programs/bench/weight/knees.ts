import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, say } from "../figures.ts";
import { beginCycle, IDLE_END, provision } from "../sync/bench-mapping.ts";
import { type TakenBy, total, type WatchedDatabase, watchDatabase } from "./statements.ts";

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

/** PostgreSQL's time for the steps of cycles and of idle beats beside growing numbers of NEW or settled changes. */
export async function measureKnees(
  server: string,
  kind: keyof typeof KINDS,
  sizes: readonly number[],
): Promise<Figure[]> {
  const database = await watchDatabase(server);
  const { client, url } = database;
  try {
    for (const table of ["busy", "quiet"]) await provision(url, contactShape({ table, mappingId: table }));
    const figures: Figure[] = [];
    let rows = 0;
    for (const size of sizes) {
      for (; rows < size; rows = Math.min(rows + AT_ONCE, size))
        await client.query(insertOf(kind), [rows + 1, Math.min(rows + AT_ONCE, size)]);
      await client.query("ANALYZE salesforce._trigger_log");
      figures.push(...figuresOf(`${size.toLocaleString("en")} ${kind}`, await cycles(database)));
      say(`${size} ${kind}`);
    }
    return figures;
  } finally {
    await database.close();
  }
}

/** What the rows of the log are, by columns and their values. */
const KINDS = {
  NEW: ["", ""],
  settled: [", state, processed_at, last_operation", ", 'SUCCESS', now(), 'SUCCESS'"],
} as const;

const insertOf = (kind: keyof typeof KINDS) =>
  `INSERT INTO salesforce._trigger_log (action, table_name, record_id, old, "values"${KINDS[kind][0]})
   SELECT 'UPDATE', 'busy', i, '{"lastname": "a"}', '{"lastname": "b"}'${KINDS[kind][1]} FROM generate_series($1::int, $2::int) i`;

async function cycles(database: WatchedDatabase): Promise<readonly TakenBy[]> {
  let now = Date.now();
  const store = createCycleStores(() => new Date(now))({ url: database.url, schema: "salesforce" });
  await database.reset();
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    now += 3_600_000; // each count is due
    const lease = await beginCycle(store, { mappingId: "busy" });
    const claimed = await store.claim(lease, 200);
    await store.release(
      lease,
      claimed.map(({ id }) => id),
    );
    await store.finish(lease, IDLE_END);
    await store.syncStates(["busy", "quiet"]);
    const beats = [{ mappingId: "quiet", configVersion: 1 }];
    await store.endIdle({ slot: Math.floor(now / 1000), beats, unchanged: null });
  }
  const taken = await database.taken();
  await store.close();
  return taken;
}

const figuresOf = (beside: string, taken: readonly TakenBy[]): Figure[] =>
  Object.entries(STEPS).map(([step, words]) => {
    const own = taken.filter(({ text }) => words.test(text.replaceAll(/\s+/g, " ")));
    const value = (total(own, "planned") + total(own, "executed")) / Math.max(1, total(own, "statements"));
    return { name: `${beside}: ${step}`, value, unit: "ms", ...(/^(finish|beat|end)/.test(step) && { atMost: 50 }) };
  });
