import { Client } from "pg";
import { onTestFinished } from "vitest";
import {
  type EmbeddedPostgres,
  type PostgresSettings,
  startPostgres,
} from "../../../lib/local/postgres/start-postgres.ts";

/** An embedded PostgreSQL that ends with the test. */
export async function start(settings: PostgresSettings): Promise<EmbeddedPostgres> {
  const postgres = await startPostgres(settings);
  onTestFinished(() => postgres.close());
  return postgres;
}

export async function ask<Row extends object>(url: string, sql: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, values)).rows;
  } finally {
    await client.end();
  }
}
