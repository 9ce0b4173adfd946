import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Programs } from "./programs.ts";

/** The one superuser, and the database that is created for it. */
export const OWNER = "bridge";

/** Gives the folder of the databases and the owner's password, creating both on the first start. */
export async function createClusterOnce(
  home: string,
  programs: Programs,
  isDurable: boolean,
): Promise<{ folder: string; password: string }> {
  const folder = join(home, "cluster");
  const passwordFile = join(home, "password");
  if (existsSync(folder)) return { folder, password: readFileSync(passwordFile, "utf8").trim() };

  const password = randomBytes(24).toString("base64url");
  rmSync(passwordFile, { force: true });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  const aside = join(home, "cluster.part"); // an initialisation cut short is begun again
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { mode: 0o700 });
  if (programs.user) for (const path of [passwordFile, aside]) chownSync(path, programs.user.uid, programs.user.gid);
  await initialise(aside, [`--pwfile=${passwordFile}`, isDurable ? "--sync-method=fsync" : "--no-sync"], programs);
  renameSync(aside, folder);
  return { folder, password };
}

/** The built-in locale sorts by code point, knows all of Unicode, and is the same on every system. */
async function initialise(folder: string, more: readonly string[], { initdb, user }: Programs): Promise<void> {
  const locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"];
  const access = [`--username=${OWNER}`, "--auth=scram-sha-256"];
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
