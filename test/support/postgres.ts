import { randomUUID } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";

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
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return { url: url.href, close: () => onServer(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`) };
}

async function onServer(connectionString: string, sql: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
