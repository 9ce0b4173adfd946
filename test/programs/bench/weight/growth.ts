import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import type { Figure } from "../sync/figure.ts";
import { total, watchDatabase } from "./statements.ts";

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
  const connections: { readonly url: string; readonly schema: string }[] = [];
  const figures: Figure[] = [];
  let dearest = Infinity;
  try {
    let made = 0;
    for (const size of sizes) {
      for (; made < size; made++) {
        const schema = of === "workspaces" ? `workspace_${made}` : "salesforce";
        const mappingId = of === "workspaces" ? "map_0" : `map_${made}`;
        const shape = contactShape({ schema, table: mappingId, mappingId });
        const connection = { url: database.url, schema, maxConnections: 100 };
        if (connections.every((one) => one.schema !== schema)) connections.push(connection);
        await createProvisioner(connection, () => new Date()).provision(mappingOf(shape), shape);
        await database.client.query(
          `UPDATE ${schema}._bridge_state SET position = now(), slow = now(), deleted = now()`,
        );
      }
      const ids = of === "workspaces" ? ["map_0"] : Array.from({ length: size }, (_, at) => `map_${at}`);
      const { own, server: theirs, statements, memory } = await measure(database, connections, ids);
      const each = (sum: number) => sum / ROUNDS / size;
      const name = `${size} ${of}`;
      const cost = each(own + theirs);
      figures.push(
        { name: `${name}: processor time of a cycle and its share of a beat`, value: each(own), unit: "ms" },
        { name: "  PostgreSQL's", value: each(theirs), unit: "ms" },
        {
          name: "  both, against the cheapest before",
          value: cost / Math.min(dearest, cost),
          unit: "×",
          atMost: MOST_GROWTH,
        },
        { name: "  statements", value: each(statements), unit: "" },
        { name: "  memory", value: memory / 2 ** 20, unit: "MiB" },
      );
      dearest = Math.min(dearest, cost);
    }
    return figures;
  } finally {
    await database.close();
  }
}

async function measure(
  database: Awaited<ReturnType<typeof watchDatabase>>,
  connections: readonly { readonly url: string; readonly schema: string }[],
  ids: readonly string[],
) {
  let now = Date.now();
  const stores = connections.map((connection) => createCycleStores(() => new Date(now))(connection));
  const round = async () => {
    now += 60_000; // each beat is noted
    for (const store of stores) {
      for (const mappingId of ids) {
        const who = {
          mappingId,
          configVersion: 1,
          owner: "bench",
          work: "cycle",
          slot: null,
          leaseSeconds: 60,
        } as const;
        const begun = await store.begin(who);
        if (!begun.held) throw new Error(begun.why);
        await store.claim(begun.lease, 200);
        await store.finish(begun.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
      }
      await store.syncStates(ids);
      const beats = ids.map((mappingId) => ({ mappingId, configVersion: 1 }));
      await store.endIdle({ slot: Math.floor(now / 1000), beats, unchanged: null });
    }
  };
  for (let at = 0; at < FIRST_ROUNDS; at++) await round();
  await database.client.query("VACUUM ANALYZE");
  await database.reset();
  const before = process.cpuUsage();
  for (let at = 0; at < ROUNDS; at++) await round();
  const { user, system } = process.cpuUsage(before);
  const taken = await database.taken();
  for (const store of stores) await store.close();
  return {
    own: (user + system) / 1000,
    server: total(taken, "planned") + total(taken, "executed"),
    statements: total(taken, "statements"),
    memory: process.memoryUsage.rss(),
  };
}
