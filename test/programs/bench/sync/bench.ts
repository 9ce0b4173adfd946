import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { recordId } from "../../../../lib/local/org/ids.ts";
import { openOrg } from "../../../../lib/local/org/run-org.ts";
import { startPostgres } from "../../../../lib/local/postgres/start-postgres.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { guardConnections } from "../../../../lib/network/guarded-dns.ts";
import { orgAsk, request } from "../../ask.ts";
import { connectionAs } from "../../connection-as.ts";
import { type Child, spawnOrg } from "../org-process.ts";
import { BENCH_FIELDS, definitionOf, type MoreField } from "./bench-objects.ts";

// The org and the database are this machine's own.
guardConnections(() => null);

/** What is measured on: a PostgreSQL of the benchmark's own, and orgs in processes of their own. */
export interface Bench {
  /** A superuser's connection, to none of the databases that are created. */
  readonly server: Client;
  /** An empty database; the server has nothing left to write when it is given. */
  createDatabase(): Promise<Database>;
  /** An org with objects of twenty fields, or `more`, and so many records in each. */
  createOrg(
    records: Readonly<Record<string, number>>,
    more?: readonly MoreField[],
    definition?: object,
  ): Promise<BenchOrg>;
}

export interface Database {
  readonly url: string;
  readonly client: Client;
}

export interface BenchOrg extends Child {
  /** How the engine is connected to it, its session open. */
  readonly connection: SalesforceConnection;
}

/** Files of the write-ahead log that are filled at the start; a checkpoint keeps 44 of them, more than all pushes fill. */
const FILLED_FILES = 60;
const SETTINGS = {
  min_wal_size: `${(FILLED_FILES + 3) * 16}MB`,
  shared_preload_libraries: "pg_stat_statements",
};

/** Measures on a bench, whose server has these further settings, and ends all that was started on it. */
export async function onBench<Result>(
  measure: (bench: Bench) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "bridge-bench-"));
  const postgres = await startPostgres({ dataDir: join(folder, "postgres"), settings: { ...SETTINGS, ...settings } });
  const orgs: BenchOrg[] = [];
  let databases = 0;
  try {
    const server = await connect(postgres.superuserUrl);
    await useMemory(server);
    return await measure({
      server,
      createDatabase: async () => {
        const name = `bench_${++databases}`;
        await server.query(`CREATE DATABASE ${name}`);
        const url = new URL(postgres.superuserUrl); // benches write checkpoints and fill tables without triggers
        url.pathname = `/${name}`;
        const client = await connect(url.href);
        await client.query("CREATE EXTENSION pg_stat_statements");
        return { url: url.href, client };
      },
      createOrg: async (records, more = [], definition = definitionOf(Object.keys(records), more)) => {
        const org = await startOrg(mkdtempSync(join(folder, "org-")), records, more, definition);
        orgs.push(org);
        return org;
      },
    });
  } finally {
    for (const org of orgs) org.stop();
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on("error", () => undefined); // the server ends it, at the end
  await client.connect();
  return client;
}

/**
 * As on a server that has been up for a while, its shared memory has been used before, and there are files of the log
 * to be written again: handing out fresh memory would take the machine longer than some of what is measured, and a
 * commit when a file of the log is full would wait some 50 ms for a new one.
 */
async function useMemory(server: Client): Promise<void> {
  await server.query("CREATE EXTENSION pg_stat_statements");
  await server.query(
    `CREATE TABLE used (number int) WITH (fillfactor = 20);
     INSERT INTO used SELECT generate_series(1, 1000000); DROP TABLE used`,
  );
  // A file ends only where something was written into it.
  await server.query(
    `SELECT pg_logical_emit_message(false, 'bench', 'a file'), pg_switch_wal() FROM generate_series(1, ${FILLED_FILES})`,
  );
  await server.query("CHECKPOINT");
}

async function startOrg(
  dataDir: string,
  records: Readonly<Record<string, number>>,
  more: readonly MoreField[],
  definition: object,
): Promise<BenchOrg> {
  const file = join(dataDir, "definition.json");
  writeFileSync(file, JSON.stringify(definition));
  const empty = await openOrg({ dataDir, definition: file, port: 0 });
  const described = await orgAsk(empty.url, empty.accessToken)<Described>("GET", "/sobjects");
  await empty.close();
  for (const { name, keyPrefix } of described.sobjects)
    if (records[name]) fillObject(dataDir, name, keyPrefix, records[name], more);
  const org = await spawnOrg(dataDir, file);
  return { ...org, connection: connectionAs(org, org, org.token) };
}

interface Described {
  readonly sobjects: readonly { readonly name: string; readonly keyPrefix: string }[];
}

/** Fills an object of a stopped org with records, all stamped well before now. */
function fillObject(dataDir: string, object: string, prefix: string, records: number, more: readonly MoreField[]) {
  const database = new DatabaseSync(join(dataDir, "org.db"));
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
  database.function("record_id", { deterministic: true }, (n) => recordId(prefix, Number(n)));
  const stamp = "strftime('%Y-%m-%dT%H:%M:%S.000Z', '2026-01-01', (n / 20) || ' seconds')";
  const us = "(SELECT Id FROM User ORDER BY Id LIMIT 1)";
  const system = ["Id", "CreatedDate", "CreatedById", "LastModifiedDate", "LastModifiedById", "SystemModstamp"];
  const fields = [...BENCH_FIELDS, ...more];
  const columns = [...system, "OwnerId", "Name", ...fields.map(({ name }) => name)];
  const values = ["record_id(n)", stamp, us, stamp, us, stamp, us, "'Record ' || n", ...fields.map(({ sql }) => sql)];
  database.exec(`
    BEGIN;
    WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${records})
    INSERT INTO "${object}" (${columns.map((column) => `"${column}"`).join(", ")})
    SELECT ${values.join(", ")} FROM series;
    INSERT INTO _sequence VALUES ('${object}', ${records}) ON CONFLICT (name) DO UPDATE SET value = ${records};
    COMMIT`);
  database.close();
}

/** A request of the org's controls. */
export const control = ({ url, token }: Child, method: string, path: string, body?: object): Promise<Response> =>
  request(`${url}/_sim/${path}`, token, method, body);
