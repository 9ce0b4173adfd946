import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { postgresHome } from "../../../lib/local/postgres/postgres-home.ts";
import type { RunningInstance } from "../../support/processes/instance.ts";
import { liveBytes } from "../bench/live-bytes.ts";

/** What was seen once a minute. */
export interface Sample {
  /** Since the load began. */
  readonly minutes: number;
  /** The product's process: every restart makes another one. */
  readonly pid: number;
  /** Bytes of the heap that are in use after a forced collection. */
  readonly heap: number;
  /** Of the heap what V8 has compiled. */
  readonly code: number;
  /** Bytes that the system has given to the process. */
  readonly resident: number;
  readonly openFiles: number;
  /** Bytes of what the data folder is built from. */
  readonly parts: Readonly<Record<string, number>>;
  /** Seconds from a change on one side until it was seen on the other; null: not within a minute. */
  readonly toSalesforce: number | null;
  readonly toPostgres: number | null;
}

const BEAT_MILLISECONDS = 10_000;
const PATIENCE_MILLISECONDS = 60_000;
const LOOK_MILLISECONDS = 250;

/** Looks at everything once. A product that is just restarting makes it reject. */
export async function takeSample(instance: RunningInstance, liveBytesFile: string, minutes: number): Promise<Sample> {
  const { pid } = instance.file;
  const { heap, code } = await liveBytes(pid, liveBytesFile);
  const resident = Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
  const openFiles = readdirSync(`/proc/${pid}/fd`).length;
  const parts = await partsOf(instance);
  // Samples are whole beats apart: without this each of them would meet the same moment of the beat.
  await pause(Math.random() * BEAT_MILLISECONDS);
  const [key, other] = [randomUUID(), randomUUID()];
  await instance.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ($1, $1)", [key]);
  await instance.org("POST", "/sobjects/Account", { Name: other, External_Id__c: other });
  const [toSalesforce, toPostgres] = await Promise.all([
    secondsUntilOne(() => instance.soql(`SELECT Id FROM Account WHERE External_Id__c = '${key}'`)),
    secondsUntilOne(() => instance.sql("SELECT FROM salesforce.account WHERE external_id__c = $1", [other])),
  ]);
  return { minutes, pid, heap, code, resident, openFiles, parts, toSalesforce, toPostgres };
}

async function partsOf(instance: RunningInstance) {
  const [tables] = await instance.sql<{ log: number; all: number }>(
    `SELECT pg_total_relation_size('salesforce._trigger_log')::float8 AS log,
       (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relkind = 'r' AND relnamespace = 'salesforce'::regnamespace)::float8 AS all`,
  );
  const { log = 0, all = 0 } = tables ?? {};
  const cluster = filesBelow(postgresHome(join(instance.dataDir, "postgres")));
  const files = filesBelow(instance.dataDir);
  const wal = bytesOf(cluster, /\/pg_wal\//);
  const cloud = files.filter(({ path }) => path.includes("/cloud/"));
  return {
    "trigger log": log,
    "other tables": all - log,
    WAL: wal,
    "other of PostgreSQL": bytesOf(cluster, /./) - wal - all - bytesOf(cluster, /\.log/),
    DynamoDB: bytesOf(cloud, /dynamodb\.sqlite/),
    queues: bytesOf(cloud, /./) - bytesOf(cloud, /dynamodb\.sqlite|\.log/),
    org: bytesOf(files, /\/org\//),
    logs: bytesOf([...files.filter(({ path }) => !path.includes("/postgres/")), ...cluster], /\.log(\.1)?$/),
  };
}

interface File {
  readonly path: string;
  readonly bytes: number;
}

/** Files may go while they are looked at. */
function filesBelow(folder: string): File[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .map((path) => ({ path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 }));
}

function bytesOf(files: readonly File[], pattern: RegExp): number {
  return files.reduce((sum, { path, bytes }) => (pattern.test(path) ? sum + bytes : sum), 0);
}

async function secondsUntilOne(look: () => Promise<readonly unknown[]>): Promise<number | null> {
  const began = performance.now();
  while (performance.now() - began < PATIENCE_MILLISECONDS) {
    await pause(LOOK_MILLISECONDS);
    if ((await look()).length > 0) return (performance.now() - began) / 1000;
  }
  return null;
}
