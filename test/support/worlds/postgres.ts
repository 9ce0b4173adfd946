import { randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { Client } from "pg";
import { expect, inject } from "vitest";
import { keepSecret, keptSecrets, passwordIn, SQL_FORMS } from "../run/secrets.ts";
import { isWholeGrid } from "../run/whole-grid.ts";

/** A database of its own on the PostgreSQL that the test run shares. */
export type TestDatabase = Awaited<ReturnType<typeof createTestDatabase>>;

/**
 * Makes a database in some milliseconds, empty or as a copy of another without connections; the first call of a
 * test run starts the server.
 */
export async function createTestDatabase({ like }: { readonly like?: { readonly url: string } } = {}) {
  server ??= openServer();
  const { url: serverUrl, client, owner, version } = await server;
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const template = like ? new URL(like.url).pathname.slice(1) : "template0";
  // Copying files takes half as long as logging each of their pages, which is what is done by default since 15.
  const strategy = version >= 150_000 ? "STRATEGY file_copy" : "";
  await client.query(`CREATE DATABASE ${name} OWNER ${owner.username} TEMPLATE ${template} ${strategy}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const superuserUrl = url.href;
  return {
    /** For the service and the application: a role that owns the database, as a customer's does, and no superuser. */
    url: Object.assign(url, owner).href,
    /** The same as a superuser, for what needs one: ending sessions, extensions, roles. */
    superuserUrl,
    /** Statements of a superuser, on a connection of their own. */
    asSuperuser: async (statements: string) => {
      const superuser = new Client({ connectionString: superuserUrl });
      await superuser.connect();
      await superuser.query(statements).finally(() => superuser.end());
    },
    /** Drops it, also while clients are connected. */
    close: async () => {
      await client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`);
      const found = isSearched() ? await tablesWithSecrets(superuserUrl) : [];
      await endConnections(client, name);
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      if (found.length > 0) throw new Error(`these tables hold secrets in plaintext: ${found.join(", ")}`);
    },
  };
}

/** The test file whose first database was searched for secrets. */
let searched: string | undefined;

/** Searching takes longer than making a database: the gate searches the first of each file, the long tier all. */
function isSearched(): boolean {
  const { testPath } = expect.getState();
  const isFirst = testPath !== searched;
  searched = testPath;
  return isFirst || isWholeGrid;
}

let server: ReturnType<typeof openServer> | undefined;

/** The shared server, this test file's own connection to it, the role that owns its databases, and its version: 180004 is 18.4. */
async function openServer() {
  const answer = await fetch(inject("postgresQueries"));
  const url = await answer.text();
  if (!answer.ok) throw new Error(`the shared PostgreSQL did not start: ${url}`);
  keepSecret(passwordIn(url), { isShared: true });
  const client = new Client({ connectionString: url });
  await client.connect();
  // It ends with the test file's process, which it does not keep from ending.
  const { stream } = client.connection;
  if (stream instanceof Socket) stream.unref();
  const { rows } = await client.query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  const version = rows[0]?.version ?? 0;
  const owner = { username: `owner_${randomUUID().replaceAll("-", "")}`, password: randomUUID() };
  keepSecret(owner.password, { isShared: true });
  // Both sides would hash it 4,096 times for each connection.
  if (version >= 160_000) await client.query("SET scram_iterations = 1");
  await client.query(`CREATE ROLE ${owner.username} LOGIN PASSWORD '${owner.password}'`);
  return { url, client, owner, version };
}

/** Dropping a database with connections checks only every 100 ms whether they have ended. */
async function endConnections(client: Client, database: string): Promise<void> {
  const theirs = "FROM pg_stat_activity WHERE datname = $1";
  let { rowCount } = await client.query(`SELECT pg_terminate_backend(pid) ${theirs}`, [database]);
  while (rowCount) ({ rowCount } = await client.query(`SELECT ${theirs}`, [database]));
}

/** The tables in which a secret can be read, with their schemas. */
async function tablesWithSecrets(connectionString: string): Promise<readonly string[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    // A table without a page holds no row; most tables of a test have none.
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', n.nspname, c.relname) AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND pg_relation_size(c.oid) > 0`,
    );
    const found: string[] = [];
    for (const { name } of tables) {
      // OFFSET 0 has each row written out once, not once for each secret.
      const { rows } = await client.query<{ found: boolean }>(
        `SELECT EXISTS (SELECT FROM (SELECT t::text AS line FROM ${name} t OFFSET 0) AS lines WHERE line ~ ANY ($1::text[])
           OR EXISTS (SELECT FROM unnest($2::text[]) AS s (secret) WHERE strpos(line, s.secret) > 0)) AS found`,
        [SQL_FORMS, keptSecrets()],
      );
      if (rows[0]?.found) found.push(name);
    }
    return found;
  } finally {
    await client.end();
  }
}
