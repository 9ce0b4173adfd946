import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import type { Figure } from "../figures.ts";
import type { Bench } from "../sync/bench.ts";
import { provision } from "../sync/bench-mapping.ts";
import { takenBy, total } from "./statements.ts";

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
