import { execFile } from "node:child_process";
import { copyFileSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { openDatabase } from "../../../../../lib/local/cloud/open-database.ts";
import { end, type ProcessIdentity } from "../../../../../lib/local/process-identity.ts";
import { copyOf, restoreOf } from "../../../../support/worlds/backups.ts";
import { queryOnce } from "../query-once.ts";

/** Puts a copy in the place of what is there now. The part is up again when it resolves. */
export type PutBack = () => Promise<void>;

const run = promisify(execFile);

/** A server that is stopped and started by others. */
export interface Server {
  stop(): Promise<unknown>;
  start(): Promise<unknown>;
}

/** The folder of a stopped server, owners included. */
export async function copyFolder(from: string, to: string, server: Server): Promise<PutBack> {
  await whileStopped(server, () => run("cp", ["-a", from, to]));
  return () => whileStopped(server, () => run("sh", ["-c", 'rm -rf "$1" && cp -a "$2" "$1"', "sh", from, to]));
}

async function whileStopped({ stop, start }: Server, work: () => Promise<unknown>): Promise<void> {
  await stop();
  try {
    await work();
  } finally {
    await start();
  }
}

/** Another session may hold what a dump needs, and end it. */
const ATTEMPTS = 10;

/** Rows and sequences as one snapshot sees them, without a stop, as dumps have them; they come back without a trigger. */
export async function copyRows(superuserUrl: string, name: string, schemas: readonly string[]): Promise<PutBack> {
  const copy = schemas.map((schema) => copyOf(`${name}_${schema}`, schema)).join(";");
  await inTransaction(superuserUrl, "REPEATABLE READ", copy);
  const restore = schemas.map((schema) => restoreOf(`${name}_${schema}`, schema)).join(";");
  return () => inTransaction(superuserUrl, "READ COMMITTED", `${ALONE(schemas)}; ${restore}`);
}

/** Nothing else works on the tables: who does is disconnected, as before any restore. */
const ALONE = (schemas: readonly string[]) => `
  DO $$ DECLARE t text; BEGIN
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
    FOR t IN SELECT c.oid::regclass FROM pg_class c
      WHERE relkind = 'r' AND relnamespace::regnamespace::text IN (${schemas.map((schema) => `'${schema}'`).join(", ")})
    LOOP EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', t); END LOOP;
  END $$`;

async function inTransaction(url: string, isolation: string, work: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await queryOnce(url, `BEGIN ISOLATION LEVEL ${isolation}; SET LOCAL lock_timeout = '3s'; ${work}; COMMIT`);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await pause(500);
    }
  }
}

const FILE = "dynamodb.sqlite";

/** The file of DynamoDB while it is at work; its host is stopped to put it back. */
export function copyTables(folder: string, to: string, host: Server): PutBack {
  const database = openDatabase(join(folder, FILE), "");
  database.prepare("VACUUM INTO ?").run(to);
  database.close();
  return () =>
    whileStopped(host, async () => {
      const server = JSON.parse(readFileSync(join(folder, "dynamodb.pid"), "utf8")) as ProcessIdentity;
      await end(server, ["SIGTERM", "SIGKILL"]);
      for (const suffix of ["", "-wal", "-shm"]) rmSync(join(folder, `${FILE}${suffix}`), { force: true });
      copyFileSync(to, join(folder, FILE));
    });
}
