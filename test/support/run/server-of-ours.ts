import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client } from "pg";
import { freePort } from "../../../lib/local/free-port.ts";
import { postgresUser } from "../../../lib/local/postgres/programs.ts";

/** Programs that the embedded PostgreSQL has not: `pg_basebackup`. Debian's package of 15. */
const PROGRAMS = process.env["POSTGRES_PROGRAMS"] ?? "/usr/lib/postgresql/15/bin";
export const hasBaseBackup = existsSync(join(PROGRAMS, "pg_basebackup"));

/** A PostgreSQL server whose processes and files a test may do anything to. */
export interface OwnServer {
  readonly url: string;
  /** Ends it at once: what was not written to disk is lost. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** A standby of it at another port, which follows it once it is started. */
  standby(): Promise<OwnServer>;
  /** The standby takes no more from its primary, and writes are allowed. */
  promote(): Promise<void>;
  query(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

const user = postgresUser();
const run = (program: string, args: readonly string[]) =>
  promisify(execFile)(join(PROGRAMS, program), args, { cwd: "/", ...user });

/** A new server below a folder that every user may enter, started, with a role and a database `bridge`. */
export async function ownServer(folder: string, settings: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
  chmodSync(folder, 0o711);
  const home = join(folder, "primary");
  makeFolder(home);
  await run("initdb", [
    "-D",
    home,
    "-U",
    "postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C.UTF-8",
    "--no-sync",
  ]);
  const server = await serverIn(home, settings);
  await server.start();
  await server.query("CREATE ROLE bridge LOGIN PASSWORD 'of-a-test'");
  await server.query("CREATE DATABASE bridge OWNER bridge");
  return server;
}

/** One of the user that the server runs as. */
function makeFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  if (user) chownSync(path, user.uid, user.gid);
}

async function serverIn(home: string, settings: Readonly<Record<string, string>>): Promise<OwnServer> {
  const port = await freePort();
  let child: ChildProcess | null = null;
  const query: OwnServer["query"] = async (text) => {
    const client = new Client({ connectionString: `postgresql://postgres@127.0.0.1:${port}/postgres` });
    await client.connect();
    return (await client.query(text).finally(() => client.end())).rows;
  };
  return {
    url: `postgresql://bridge:of-a-test@127.0.0.1:${port}/bridge`,
    query,
    start: async () => {
      const all = { port: String(port), listen_addresses: "127.0.0.1", unix_socket_directories: "", ...settings };
      const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
      const started = spawn(join(PROGRAMS, "postgres"), ["-D", home, ...args], {
        cwd: "/",
        ...user,
        stdio: ["ignore", "ignore", "pipe"],
      });
      child = started;
      await new Promise<void>((resolve, reject) => {
        started.stderr?.on("data", (text) => /ready to accept/.test(String(text)) && resolve());
        started.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
      });
    },
    crash: async () => {
      if (child === null || child.exitCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGQUIT");
      await gone;
    },
    standby: async () => {
      const copy = join(home, "..", `standby-${port}`);
      makeFolder(copy);
      await run("pg_basebackup", [
        "-D",
        copy,
        "-R",
        "-X",
        "stream",
        "-c",
        "fast",
        "-h",
        "127.0.0.1",
        "-p",
        String(port),
        "-U",
        "postgres",
      ]);
      return serverIn(copy, settings);
    },
    promote: async () => {
      await query("SELECT pg_promote()");
    },
  };
}
