import { Client } from "pg";

/** One text of statements over a connection of its own; gives the rows of the last. */
export async function queryOnce<R>(url: string, text: string, name = "proof"): Promise<readonly R[]> {
  const client = new Client({ connectionString: url, application_name: name, query_timeout: 120_000 });
  client.on("error", () => undefined); // PostgreSQL may be killed meanwhile
  try {
    await client.connect();
    const results = await client.query(text);
    return (Array.isArray(results) ? results.at(-1) : results).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
