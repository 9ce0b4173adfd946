import { Client } from "pg";

/** What a database's statements took: how many, bytes of WAL, milliseconds of planning and of executing. */
export interface Taken {
  readonly statements: number;
  readonly walBytes: number;
  readonly planned: number;
  readonly executed: number;
}

export interface TakenBy extends Taken {
  readonly text: string;
}

/** A database of a server that has `pg_stat_statements`, and what its statements took since `reset`. */
export interface WatchedDatabase {
  readonly url: string;
  readonly client: Client;
  reset(): Promise<void>;
  /** By statement, the dearest first. */
  taken(): Promise<readonly TakenBy[]>;
  close(): Promise<void>;
}

/** An empty database on a server of which `server` is a superuser's URL; the watching itself is not counted. */
export async function watchDatabase(server: string): Promise<WatchedDatabase> {
  const admin = new Client({ connectionString: server });
  await admin.connect();
  const name = `bench_${process.pid}_${Math.round(performance.now())}`;
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.query("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
  const url = new URL(server);
  url.pathname = `/${name}`;
  const client = new Client({ connectionString: url.href });
  client.on("error", () => undefined);
  await client.connect();
  return {
    url: url.href,
    client,
    reset: async () => {
      await admin.query("SELECT pg_stat_statements_reset()");
    },
    taken: async () => {
      const { rows } = await admin.query<TakenBy>(
        `SELECT query AS text, sum(calls)::int AS statements, sum(wal_bytes)::float8 AS "walBytes",
           sum(total_plan_time) AS planned, sum(total_exec_time) AS executed
         FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
         GROUP BY query ORDER BY sum(total_plan_time + total_exec_time) DESC`,
        [name],
      );
      return rows;
    },
    close: async () => {
      await client.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    },
  };
}

export const total = (taken: readonly Taken[], of: keyof Taken): number => taken.reduce((sum, one) => sum + one[of], 0);
