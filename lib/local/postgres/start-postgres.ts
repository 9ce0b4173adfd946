import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { lockFolder } from "../folder-lock.ts";
import { freePort } from "../free-port.ts";
import { type GuardedChild, startGuarded } from "../guarded-child.ts";
import { createClusterOnce, OWNER } from "./create-cluster.ts";
import { END_SIGNALS, endOrphan } from "./end-orphan.ts";
import { postgresHome } from "./postgres-home.ts";
import { findPrograms, type Programs } from "./programs.ts";

/** How to start the embedded PostgreSQL. */
export interface PostgresSettings {
  /** The data is kept here; one process at a time may own it. */
  readonly dataDir: string;
  /** A fixed port; without it the one of the last start, or a free one. */
  readonly port?: number;
  /** Further settings of the server, by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A PostgreSQL that can be used. */
export interface Postgres {
  /** With user and password; the user owns the server and the database. */
  readonly url: string;
  readonly port: number;
  /** Resolves when the server has ended, by `close` or by itself; never for a server that is not ours. */
  readonly exited: Promise<unknown>;
  close(): Promise<void>;
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

/** Starts PostgreSQL over a data folder, creating it on the first start; after a kill it recovers by itself. */
export async function startPostgres({ dataDir, port, settings = {} }: PostgresSettings): Promise<Postgres> {
  const home = postgresHome(dataDir);
  const lock = lockFolder(join(home, "lock"));
  try {
    const programs = findPrograms(home);
    const { folder, password } = await createClusterOnce(home, programs, settings["fsync"] !== "off");
    await endOrphan(folder);
    const [child, used] = await started(home, folder, programs, port, settings);
    const urlOf = (database: string) => `postgresql://${OWNER}:${password}@127.0.0.1:${used}/${database}`;
    const close = async () => {
      await child.stop();
      lock.release();
    };
    await ensureDatabase(urlOf("postgres")).catch(async (error: unknown) => {
      await child.stop();
      throw error;
    });
    return { url: urlOf(OWNER), port: used, exited: child.exited, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Starts the server; where the port is ours to choose, another one is taken when somebody was faster. */
async function started(
  home: string,
  folder: string,
  { postgres, user }: Programs,
  fixedPort: number | undefined,
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
      logFile: join(home, "postgres.log"),
    });
    try {
      await child.printed(READY);
      writeFileSync(portFile, `${port}\n`);
      return [child, port];
    } catch (error) {
      if (fixedPort || attempt === ATTEMPTS || !/Address already in use/.test(String(error))) throw error;
    }
  }
}

function portIn(file: string): number {
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) || 0 : 0;
}

async function ensureDatabase(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query("SELECT FROM pg_database WHERE datname = $1", [OWNER]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${OWNER}`);
  } finally {
    await client.end();
  }
}
