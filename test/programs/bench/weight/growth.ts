import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, processorTime } from "../figures.ts";
import { beginCycle, IDLE_END, provision, type Store } from "../sync/bench-mapping.ts";
import { total, type WatchedDatabase, watchDatabase } from "./statements.ts";

const FIRST_ROUNDS = 5;
const ROUNDS = 20;
/** What one more may cost beyond what each of those before has cost. */
const MOST_GROWTH = 1.3;

/**
 * What a cycle without changes and an idle beat cost beside growing numbers of mappings in one workspace, or of
 * workspaces with a mapping each: processor time of this process, PostgreSQL's time, memory. Each round is a cycle of
 * each mapping, and one beat of each workspace.
 */
export async function measureGrowth(
  server: string,
  of: "mappings" | "workspaces",
  sizes: readonly number[],
): Promise<Figure[]> {
  const database = await watchDatabase(server);
  const { url, client } = database;
  const figures: Figure[] = [];
  let cheapest = Infinity;
  try {
    let made = 0;
    for (const size of sizes) {
      for (; made < size; made++) {
        const [schema, table] = of === "workspaces" ? [`workspace_${made}`, "map_0"] : ["salesforce", `map_${made}`];
        await provision(url, contactShape({ schema, table, mappingId: table }), { schema });
        await client.query(`UPDATE ${schema}._bridge_state SET position = now(), slow = now(), deleted = now()`);
      }
      const names = Array.from({ length: size }, (_, at) => at);
      const schemas = of === "workspaces" ? names.map((at) => `workspace_${at}`) : ["salesforce"];
      const ids = of === "workspaces" ? ["map_0"] : names.map((at) => `map_${at}`);
      const { own, server: theirs, statements } = await measure(database, schemas, ids);
      const each = (all: number) => all / ROUNDS / size;
      const cost = each(own + theirs);
      cheapest = Math.min(cheapest, cost);
      figures.push(
        { name: `${size} ${of}: processor time of a cycle and its share of a beat`, value: each(own), unit: "ms" },
        { name: "  PostgreSQL's", value: each(theirs), unit: "ms" },
        { name: "  both, against the cheapest so far", value: cost / cheapest, unit: "×", atMost: MOST_GROWTH },
        { name: "  statements", value: each(statements), unit: "" },
        { name: "  memory", value: process.memoryUsage.rss() / 2 ** 20, unit: "MiB" },
      );
    }
    return figures;
  } finally {
    await database.close();
  }
}

async function measure(database: WatchedDatabase, schemas: readonly string[], ids: readonly string[]) {
  let now = Date.now();
  const open = (schema: string): Store =>
    createCycleStores(() => new Date(now))({ url: database.url, schema, maxConnections: 100 });
  const stores = schemas.map(open);
  const round = async () => {
    now += 60_000; // each beat is noted
    for (const store of stores) {
      for (const mappingId of ids) {
        const lease = await beginCycle(store, { mappingId });
        await store.claim(lease, 200);
        await store.finish(lease, IDLE_END);
      }
      await store.syncStates(ids);
      const beats = ids.map((mappingId) => ({ mappingId, configVersion: 1 }));
      await store.endIdle({ slot: Math.floor(now / 1000), beats, unchanged: null });
    }
  };
  for (let at = 0; at < FIRST_ROUNDS; at++) await round();
  await database.client.query("VACUUM ANALYZE");
  await database.reset();
  const before = processorTime();
  for (let at = 0; at < ROUNDS; at++) await round();
  const own = processorTime() - before;
  const taken = await database.taken();
  for (const store of stores) await store.close();
  const server = total(taken, "planned") + total(taken, "executed");
  return { own, server, statements: total(taken, "statements") };
}
