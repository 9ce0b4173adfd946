import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import type { Figure } from "../figures.ts";
import { provision } from "../sync/bench-mapping.ts";
import { total, watchDatabase } from "./statements.ts";

const FIELDS = 12;
const FIRST_BEATS = 60;
/** As many as from one checkpoint to the next, after which each page is written whole once. */
const BEATS = 30;
const BEATS_A_DAY = 8_640;

/** The WAL of idle beats that come in one message, with the calls of their probe. */
export async function measureNotes(server: string, count: number): Promise<Figure[]> {
  const database = await watchDatabase(server);
  try {
    const connection = { url: database.url, schema: "salesforce" };
    const columns = Array.from({ length: FIELDS }, (_, at) => column(`Field${at}__c`));
    const ids = Array.from({ length: count }, (_, at) => `map_${at}`);
    for (const mappingId of ids) await provision(database.url, contactShape({ table: mappingId, mappingId, columns }));
    await database.client.query("UPDATE salesforce._bridge_state SET position = now(), slow = now(), deleted = now()");
    let now = Date.now();
    const store = createCycleStores(() => new Date(now))(connection);
    const beat = async () => {
      now += 10_000;
      const states = await store.syncStates(ids);
      await store.addCalls(ids[0] ?? "", { REST: 1 });
      const unnoted = states.flatMap(({ mappingId, noted }) => (noted ? [] : [mappingId]));
      if (unnoted.length === 0) return;
      await store.endIdle({
        slot: Math.floor(now / 1000),
        beats: unnoted.map((mappingId) => ({ mappingId, configVersion: 1 })),
        unchanged: { mappingIds: unnoted, at: new Date(now), late: [] },
      });
    };
    for (let at = 0; at < FIRST_BEATS; at++) await beat();
    await database.client.query("VACUUM"); // what provisioning has left in the catalog
    await database.client.query("CHECKPOINT");
    await database.reset();
    for (let at = 0; at < BEATS; at++) await beat();
    const wal = total(await database.taken(), "walBytes") / BEATS / count;
    await store.close();
    return [
      {
        ...{ name: `idle beats of ${count} mappings in one message: WAL a mapping and day`, unit: "MB" },
        ...{ value: (wal * BEATS_A_DAY) / 1e6, ...(count >= 10 && { atMost: 1 }) },
      },
    ];
  } finally {
    await database.close();
  }
}
