import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import type { Reader } from "../reader.ts";

/** Makes what a block needs, types the block, and checks what it has done. By the names that pages give: `sh with: psql`. */
export type Preparations = Readonly<Record<string, (reader: Reader) => Promise<void>>>;

/** Far more than it takes, so that a busy machine fails nothing. */
export const SOON = { timeout: 300_000, interval: 250 };

/** Makes a workspace of the reader's own, beside the demo. */
export const CREATE = "npx bridge workspace create Own --owner ada@example.com --login";

/** The superuser of the instance's database. */
export function superuserOf({ instance }: Reader): URL {
  const password = readFileSync(join(instance.dataDir, "postgres/superuser-password"), "utf8").trim();
  return Object.assign(new URL(instance.file.database_url), { username: "postgres", password });
}

export async function query(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** What the API of the instance lists. */
export const listed = async <Item>({ instance }: Reader, path: string): Promise<readonly Item[]> =>
  (await instance.api("GET", path)).body.data as Item[];

/** What a command says with `--json`. */
export const jsonOf = async <Item>(reader: Reader, command: string): Promise<Item> =>
  JSON.parse(await reader.run(`npx bridge ${command} --json`)) as Item;
