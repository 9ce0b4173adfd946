import type { Bench, Database } from "../sync/bench.ts";
import { beginCycle, IDLE_END, type Store } from "../sync/bench-mapping.ts";

/** What statements took: how many, bytes of WAL, milliseconds of planning and of executing. */
interface Taken {
  readonly statements: number;
  readonly walBytes: number;
  readonly planned: number;
  readonly executed: number;
}

export interface TakenBy extends Taken {
  readonly text: string;
}

/** What each statement in a database took while this was done. */
export async function takenBy(
  { server }: Bench,
  { client }: Database,
  work: () => Promise<unknown>,
): Promise<readonly TakenBy[]> {
  await server.query("SELECT pg_stat_statements_reset()");
  await work();
  const { rows } = await server.query<TakenBy>(
    `SELECT query AS text, sum(calls)::int AS statements, sum(wal_bytes)::float8 AS "walBytes",
       sum(total_plan_time) AS planned, sum(total_exec_time) AS executed
     FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1) GROUP BY query`,
    [client.database],
  );
  return rows;
}

export const total = (taken: readonly Taken[], of: keyof Taken): number => taken.reduce((sum, one) => sum + one[of], 0);

/** A cycle of each of these mappings, which gives back what it claims, and an idle beat of those, both at this time. */
export async function cycleAndBeat(store: Store, cycles: readonly string[], idle: readonly string[], now: number) {
  for (const mappingId of cycles) {
    const lease = await beginCycle(store, { mappingId });
    const ids = (await store.claim(lease, 200)).map(({ id }) => id);
    if (ids.length > 0) await store.release(lease, ids);
    await store.finish(lease, IDLE_END);
  }
  await store.syncStates([...new Set([...cycles, ...idle])]);
  const beats = idle.map((mappingId) => ({ mappingId, configVersion: 1 }));
  await store.endIdle({ slot: Math.floor(now / 1000), beats, unchanged: null });
}
