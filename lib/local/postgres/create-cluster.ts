import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Programs } from "./programs.ts";

/** The ordinary role that owns the database of its name, as a customer's would. */
export const OWNER = "bridge";

const SUPERUSER = "postgres";

/** A role, and how it signs in. */
export interface Login {
  readonly name: string;
  readonly password: string;
}

/** The folder of the databases, and who may enter. */
export interface Cluster {
  readonly folder: string;
  readonly owner: Login;
  /** In folders of version 0.3.0 and older it is the owner. */
  readonly superuser: Login;
}

/** Gives the databases' folder and its passwords, creating them on the first start. `startPostgres` creates the owner. */
export async function createClusterOnce(home: string, programs: Programs, isDurable: boolean): Promise<Cluster> {
  const folder = join(home, "cluster");
  const ownersFile = join(home, "password");
  const superusersFile = join(home, "superuser-password");
  if (existsSync(folder)) {
    const owner = { name: OWNER, password: passwordIn(ownersFile) };
    if (!existsSync(superusersFile)) return { folder, owner, superuser: owner };
    return { folder, owner, superuser: { name: SUPERUSER, password: passwordIn(superusersFile) } };
  }

  const owner = { name: OWNER, password: newPassword(ownersFile) };
  const superuser = { name: SUPERUSER, password: newPassword(superusersFile) };
  const aside = join(home, "cluster.part"); // an initialisation cut short is begun again
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { mode: 0o700 });
  if (programs.user) for (const path of [superusersFile, aside]) chownSync(path, programs.user.uid, programs.user.gid);
  await initialise(aside, [`--pwfile=${superusersFile}`, isDurable ? "--sync-method=fsync" : "--no-sync"], programs);
  renameSync(aside, folder);
  return { folder, owner, superuser };
}

const passwordIn = (file: string): string => readFileSync(file, "utf8").trim();

function newPassword(file: string): string {
  const password = randomBytes(24).toString("base64url");
  rmSync(file, { force: true });
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  return password;
}

/** The built-in locale sorts by code point, knows all of Unicode, and is the same on every system. */
async function initialise(folder: string, more: readonly string[], { initdb, user }: Programs): Promise<void> {
  const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"];
  const access = [`--username=${SUPERUSER}`, "--auth=scram-sha-256"];
  try {
    await promisify(execFile)(initdb, ["--pgdata", folder, "--no-instructions", ...locale, ...access, ...more], {
      cwd: folder,
      env: { ...process.env, LC_ALL: "C" },
      ...user,
    });
  } catch (cause) {
    throw new Error(`PostgreSQL could not create its data in ${folder}: ${words(cause)}`, { cause });
  }
}

function words(cause: unknown): string {
  const { stderr } = cause as { stderr?: string };
  return stderr?.trim() || String(cause);
}
