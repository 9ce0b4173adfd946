import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startPostgres } from "../../../../lib/local/postgres/start-postgres.ts";
import { guardConnections } from "../../../../lib/network/guarded-dns.ts";

// The org and the database are this machine's own.
guardConnections(() => null);

/** Files of the write-ahead log that are filled at the start; a checkpoint keeps 44 of them, more than all pushes fill. */
const FILLED_FILES = 60;
const SETTINGS = {
  min_wal_size: `${(FILLED_FILES + 3) * 16}MB`,
  shared_preload_libraries: "pg_stat_statements",
};

/** A PostgreSQL of the benchmark's own. */
export interface BenchServer {
  /** An empty database; the server has nothing left to write when it is given. */
  createDatabase(): Promise<string>;
  close(): Promise<void>;
}

export async function startBenchServer(more: Readonly<Record<string, string>> = {}): Promise<BenchServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "bridge-bench-postgres-"));
  const postgres = await startPostgres({ dataDir, settings: { ...SETTINGS, ...more } });
  await useMemory(postgres.superuserUrl);
  const template = new URL(postgres.superuserUrl);
  template.pathname = "/template1";
  await run(template.href, "CREATE EXTENSION pg_stat_statements");
  let count = 0;
  return {
    createDatabase: async () => {
      count += 1;
      const url = new URL(postgres.superuserUrl); // benches write checkpoints and fill tables without triggers
      url.pathname = `/bench_${count}`;
      await run(postgres.superuserUrl, `CREATE DATABASE bench_${count}`);
      return url.href;
    },
    close: async () => {
      await postgres.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * As on a server that has been up for a while, its shared memory has been used before, and there are files of the log
 * to be written again: handing out fresh memory would take the machine longer than some of what is measured, and a
 * commit when a file of the log is full would wait some 50 ms for a new one.
 */
async function useMemory(url: string): Promise<void> {
  await run(
    url,
    `CREATE TABLE used (number int) WITH (fillfactor = 20);
     INSERT INTO used SELECT generate_series(1, 1000000); DROP TABLE used`,
  );
  // A file ends only where something was written into it.
  await run(
    url,
    `SELECT pg_logical_emit_message(false, 'bench', 'a file'), pg_switch_wal() FROM generate_series(1, ${FILLED_FILES})`,
  );
  await run(url, "CHECKPOINT");
}

/** One statement on a connection of its own; its rows. */
export async function run<Row extends object>(connectionString: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}
