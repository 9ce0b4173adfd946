import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { keepSecret, keptSecrets, passwordIn, SQL_FORMS } from "./secrets.ts";

/** A database of its own on the PostgreSQL that the test run shares. */
export interface TestDatabase {
  readonly url: string;
  /** Drops it, whoever is still connected. */
  close(): Promise<void>;
}

/** Makes an empty database in some milliseconds; the first call of a test run starts the server. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const answer = await fetch(inject("postgresDesk"));
  const serverUrl = await answer.text();
  if (!answer.ok) throw new Error(`the shared PostgreSQL did not start: ${serverUrl}`);
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await onServer(serverUrl, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE template0`));
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  keepSecret(passwordIn(serverUrl));
  return {
    url: url.href,
    close: async () => {
      await onServer(serverUrl, (client) => client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS true`));
      const found = await onServer(url.href, tablesWithSecrets);
      await onServer(serverUrl, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
      if (found.length > 0) throw new Error(`these tables hold secrets in plaintext: ${found.join(", ")}`);
    },
  };
}

async function onServer<Answer>(connectionString: string, work: (client: Client) => Promise<Answer>): Promise<Answer> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The tables in which a secret can be read, with their schemas. */
async function tablesWithSecrets(client: Client): Promise<readonly string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM ${name} t WHERE t::text ~ ANY ($1::text[])
         OR EXISTS (SELECT FROM unnest($2::text[]) AS s (secret) WHERE strpos(t::text, s.secret) > 0)) AS found`,
      [SQL_FORMS, keptSecrets()],
    );
    if (rows[0]?.found) found.push(name);
  }
  return found;
}
