import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import type { Figure } from "../sync/figure.ts";
import { type TakenBy, total, watchDatabase } from "./statements.ts";

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

/** PostgreSQL's time for the steps of cycles and of idle beats beside growing numbers of NEW, held or settled changes. */
export async function measureKnees(
  server: string,
  kind: keyof typeof KINDS,
  sizes: readonly number[],
  say: (text: string) => void,
): Promise<Figure[]> {
  const database = await watchDatabase(server);
  try {
    const connection = { url: database.url, schema: "salesforce" };
    const shapes = ["busy", "quiet"].map((table) => contactShape({ table, mappingId: table }));
    for (const shape of shapes)
      await createProvisioner(connection, () => new Date()).provision(mappingOf(shape), shape);
    const figures: Figure[] = [];
    let rows = 0;
    for (const size of sizes) {
      for (; rows < size; rows = Math.min(rows + AT_ONCE, size))
        await insert(database.client, kind, rows + 1, Math.min(rows + AT_ONCE, size));
      await database.client.query("ANALYZE salesforce._trigger_log");
      const taken = await cycles(database, connection);
      figures.push(...figuresOf(`${size.toLocaleString("en")} ${kind}`, taken));
      say(
        figures
          .slice(-Object.keys(STEPS).length)
          .map(({ name, value }) => `${name} ${value.toFixed(1)}`)
          .join("; "),
      );
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

const insert = (client: import("pg").Client, kind: keyof typeof KINDS, from: number, to: number) =>
  client.query(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, old, "values"${KINDS[kind][0]})
     SELECT 'UPDATE', 'busy', i, '{"lastname": "a"}', '{"lastname": "b"}'${KINDS[kind][1]} FROM generate_series($1::int, $2::int) i`,
    [from, to],
  );

async function cycles(
  database: Awaited<ReturnType<typeof watchDatabase>>,
  connection: { readonly url: string; readonly schema: string },
): Promise<readonly TakenBy[]> {
  let now = Date.now();
  const store = createCycleStores(() => new Date(now))(connection);
  await database.reset();
  for (let cycle = 0; cycle < CYCLES; cycle++) {
    now += 3_600_000; // each count is due
    const begun = await store.begin({
      mappingId: "busy",
      configVersion: 1,
      work: "cycle",
      owner: "bench",
      slot: null,
      leaseSeconds: 60,
    });
    if (!begun.held) throw new Error(begun.why);
    const claimed = await store.claim(begun.lease, 200);
    await store.release(
      begun.lease,
      claimed.map(({ id }) => id),
    );
    await store.finish(begun.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
    await store.syncStates(["busy", "quiet"]);
    await store.endIdle({
      slot: Math.floor(now / 1000),
      beats: [{ mappingId: "quiet", configVersion: 1 }],
      unchanged: null,
    });
  }
  const taken = await database.taken();
  await store.close();
  return taken;
}

const figuresOf = (beside: string, taken: readonly TakenBy[]): Figure[] =>
  Object.entries(STEPS).map(([step, words]) => {
    const own = taken.filter(({ text }) => words.test(text.replaceAll(/\s+/g, " ")));
    const value = (total(own, "planned") + total(own, "executed")) / Math.max(1, total(own, "statements"));
    return {
      name: `${beside}: ${step}`,
      value,
      unit: "ms",
      ...(/^(finish|beat|end)/.test(step) && { atMost: 50 }),
    };
  });
