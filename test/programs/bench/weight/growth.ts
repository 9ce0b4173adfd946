import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, processorTime } from "../figures.ts";
import type { Bench, Database } from "../sync/bench.ts";
import { provision } from "../sync/bench-mapping.ts";
import { cycleAndBeat, takenBy, total } from "./statements.ts";

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
  bench: Bench,
  of: "mappings" | "workspaces",
  sizes: readonly number[],
): Promise<Figure[]> {
  const database = await bench.createDatabase();
  const { url, client } = database;
  const figures: Figure[] = [];
  let cheapest = Infinity;
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
    const { own, server, statements } = await measure(bench, database, schemas, ids);
    const each = (all: number) => all / ROUNDS / size;
    const cost = each(own + server);
    cheapest = Math.min(cheapest, cost);
    figures.push(
      { name: `${size} ${of}: processor time of a cycle and its share of a beat`, value: each(own), unit: "ms" },
      { name: "  PostgreSQL's", value: each(server), unit: "ms" },
      { name: "  both, against the cheapest so far", value: cost / cheapest, unit: "×", atMost: MOST_GROWTH },
      { name: "  statements", value: each(statements), unit: "" },
      { name: "  memory", value: process.memoryUsage.rss() / 2 ** 20, unit: "MiB" },
    );
  }
  return figures;
}

async function measure(bench: Bench, database: Database, schemas: readonly string[], ids: readonly string[]) {
  let now = Date.now();
  const open = createCycleStores(() => new Date(now));
  const stores = schemas.map((schema) => open({ url: database.url, schema, maxConnections: 100 }));
  const rounds = async (count: number) => {
    for (let at = 0; at < count; at++) {
      now += 60_000; // each beat is noted
      for (const store of stores) await cycleAndBeat(store, ids, ids, now);
    }
  };
  await rounds(FIRST_ROUNDS);
  await database.client.query("VACUUM ANALYZE");
  const before = processorTime();
  const taken = await takenBy(bench, database, () => rounds(ROUNDS));
  const own = processorTime() - before;
  for (const store of stores) await store.close();
  return { own, server: total(taken, "planned") + total(taken, "executed"), statements: total(taken, "statements") };
}
