import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { lockFolder } from "../folder-lock.ts";
import { freePort } from "../free-port.ts";
import { type GuardedChild, startGuarded } from "../guarded-child.ts";
import { createClusterOnce, type Login, OWNER } from "./create-cluster.ts";
import { END_SIGNALS, endOrphan } from "./end-orphan.ts";
import { postgresHome } from "./postgres-home.ts";
import { findPrograms, type Programs } from "./programs.ts";

/** How to start the embedded PostgreSQL. */
export interface PostgresSettings {
  /** The data is kept here; one process at a time may own it. */
  readonly dataDir: string;
  /** A fixed port; without it the one of the last start, or a free one. */
  readonly port?: number;
  /** The port of the last start, where there was one, and no other: it is written down somewhere. */
  readonly keepsPort?: boolean;
  /** Further settings of the server, by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A PostgreSQL that can be used. */
export interface Postgres {
  /** With user and password. */
  readonly url: string;
  /** What the server prints, which holds the reason when it ends; empty for a server that is not ours. */
  readonly logFile: string;
  /** Resolves when the server has ended, by `close` or otherwise; never for a server that is not ours. */
  readonly exited: Promise<unknown>;
  close(): Promise<void>;
}

/** The embedded one: `url` is that of an ordinary role, which owns the database. */
export interface EmbeddedPostgres extends Postgres {
  /** The same database as a superuser. */
  readonly superuserUrl: string;
}

const READY = /database system is ready to accept connections/;
const ATTEMPTS = 3;

/** Fixed, whatever the machine: reachable from this machine alone, durable, in UTC. */
const SETTINGS = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  fsync: "on",
  max_connections: "200",
  timezone: "UTC",
  log_timezone: "UTC",
};

/** Starts PostgreSQL over a data folder, creating it on the first start; after a kill it recovers. */
export async function startPostgres(order: PostgresSettings): Promise<EmbeddedPostgres> {
  const { dataDir, settings = {} } = order;
  const home = postgresHome(dataDir);
  const lock = lockFolder(join(home, "lock"));
  try {
    const programs = findPrograms(home);
    const { folder, owner, superuser } = await createClusterOnce(home, programs, settings["fsync"] !== "off");
    await endOrphan(folder);
    const fixedPort = order.port || (order.keepsPort ? portIn(join(home, "port")) : 0);
    const [child, used] = await started(home, folder, programs, fixedPort, settings);
    const urlOf = ({ name, password }: Login, database: string) =>
      `postgresql://${name}:${password}@127.0.0.1:${used}/${database}`;
    const close = async () => {
      await child.stop();
      lock.release();
    };
    await ensureOwner(urlOf(superuser, "postgres"), owner).catch(async (error: unknown) => {
      await child.stop();
      throw error;
    });
    return {
      url: urlOf(owner, OWNER),
      superuserUrl: urlOf(superuser, OWNER),
      logFile: logFileIn(home),
      exited: child.exited,
      close,
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Starts the server; where the port is ours to choose, another one is used when the first is not free any more. */
async function started(
  home: string,
  folder: string,
  { postgres, user }: Programs,
  fixedPort: number,
  more: Readonly<Record<string, string>>,
): Promise<[GuardedChild, number]> {
  const portFile = join(home, "port");
  for (let attempt = 1; ; attempt++) {
    const port = fixedPort || (await freePort(attempt === 1 ? portIn(portFile) : 0));
    const settings = Object.entries({ ...SETTINGS, ...more }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = await startGuarded({
      name: "the embedded PostgreSQL",
      command: postgres,
      args: ["-D", folder, "-p", String(port), ...settings],
      environment: { ...process.env, LC_ALL: "C", PGDATA: folder },
      ...(user && { user }),
      folder,
      endSignals: END_SIGNALS,
      pidFile: join(home, "postgres.pid"),
      logFile: logFileIn(home),
    });
    try {
      await child.printed(READY);
      writeFileSync(portFile, `${port}\n`);
      return [child, port];
    } catch (error) {
      const isTaken = /Address already in use/.test(String(error));
      if (fixedPort || attempt === ATTEMPTS || !isTaken) throw explained(error, folder, isTaken ? port : null);
    }
  }
}

/** What an operator can do about a server that does not start; the server's own words are the cause. */
function explained(error: unknown, folder: string, takenPort: number | null): unknown {
  if (takenPort !== null) {
    const remedy = "another program has it, and connections name it: end what uses it";
    return new Error(`the embedded PostgreSQL cannot listen on 127.0.0.1:${takenPort}: ${remedy}`, { cause: error });
  }
  if (!/database files are incompatible with server/.test(String(error))) return error;
  const remedy = "dump them with the release of Bridge that made them, or choose another data folder";
  return new Error(`the databases in ${folder} are those of another version of PostgreSQL: ${remedy}`, {
    cause: error,
  });
}

const logFileIn = (home: string): string => join(home, "postgres.log");

function portIn(file: string): number {
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) || 0 : 0;
}

/** The first start makes the role and its database, or the next one does. */
async function ensureOwner(superuserUrl: string, { name, password }: Login): Promise<void> {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const has = async (from: string) => (await client.query(`SELECT FROM ${from} = $1`, [name])).rowCount === 1;
    if (!(await has("pg_roles WHERE rolname"))) await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
    if (!(await has("pg_database WHERE datname"))) await client.query(`CREATE DATABASE ${name} OWNER ${name}`);
  } finally {
    await client.end();
  }
}
