import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { startPostgres } from "../../../lib/local/postgres/start-postgres.ts";
import { type SharedServer, startOlderPostgres } from "./older-postgres.ts";
import { keepSecret, passwordIn, refuseSecrets } from "./secrets.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Answers with the superuser's URL of the PostgreSQL that all test files share. */
    readonly postgresQueries: string;
  }
}

/** Speed instead of durability: what these tests write need not outlive the machine. */
const FAST = { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };

/**
 * Starts one PostgreSQL for the whole run when the first test file asks for it, and ends it after the last. It is the
 * embedded one, or that of POSTGRES_PROGRAMS, the folder of another version's `initdb` and `postgres`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), "bridge-postgres-"));
  const programs = process.env["POSTGRES_PROGRAMS"];
  let starting: Promise<SharedServer> | undefined;
  const queries = createServer(async (_, response) => {
    starting ??= start(programs, dataDir);
    await starting.then(
      ({ superuserUrl }) => response.end(superuserUrl),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => queries.listen(0, "127.0.0.1", resolve));
  project.provide("postgresQueries", `http://127.0.0.1:${(queries.address() as AddressInfo).port}`);
  return async () => {
    queries.close();
    queries.closeAllConnections();
    const postgres = await starting?.catch(() => undefined);
    await postgres?.close();
    if (postgres) refuseSecretsInLog(dataDir, postgres);
    rmSync(dataDir, { recursive: true, force: true });
  };
}

async function start(programs: string | undefined, dataDir: string): Promise<SharedServer> {
  if (programs) return startOlderPostgres(programs, dataDir, FAST);
  const postgres = await startPostgres({ dataDir, settings: FAST });
  await hashPasswordOnce(postgres.superuserUrl);
  return postgres;
}

/** A test connects several times, and both sides would hash the password 4,096 times for each connection. */
async function hashPasswordOnce(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SET scram_iterations = 1");
    await client.query(`ALTER ROLE CURRENT_USER PASSWORD '${passwordIn(url)}'`);
  } finally {
    await client.end();
  }
}

/** What the server wrote down of statements that went wrong. */
function refuseSecretsInLog(dataDir: string, { superuserUrl }: SharedServer): void {
  keepSecret(passwordIn(superuserUrl));
  const logs = readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".log"));
  if (logs.length === 0) throw new Error("the shared PostgreSQL has no log to search");
  for (const name of logs) refuseSecrets(name, readFileSync(join(dataDir, name), "latin1"));
}
