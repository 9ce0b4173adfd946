import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Bundle } from "./bundle.ts";

/** What a build was built from, and its result. */
interface Stamp {
  readonly sources: string;
  readonly bundles: readonly Bundle[];
}

/** A digest of what bundles are built from: their sources, the build itself, and the packages installed. */
export function digestOfSources(project: string, functions: string): string {
  const hash = createHash("sha256");
  for (const folder of [functions, join(project, "lib")]) {
    for (const file of existsSync(folder) ? sourcesIn(folder, isBundled) : []) {
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(folder, file)))
        .update("\0");
    }
  }
  const others = ["tsconfig.json", "CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"];
  for (const file of [...others, "node_modules/.package-lock.json"]) {
    if (existsSync(join(project, file))) hash.update(readFileSync(join(project, file)));
  }
  return hash.digest("hex");
}

/** The bundles in a folder if they were built from these sources and are still there; undefined asks for a build. */
export function freshBundles(out: string, sources: string): readonly Bundle[] | undefined {
  const stamp = readStamp(out);
  if (stamp?.sources !== sources) return undefined;
  const isThere = ({ name, bytes }: Bundle) =>
    statSync(join(out, name, "index.mjs"), { throwIfNoEntry: false })?.size === bytes;
  return stamp.bundles.every(isThere) ? stamp.bundles : undefined;
}

/** Stores, beside the folder, what its bundles were built from. */
export function stampBundles(out: string, sources: string, bundles: readonly Bundle[]): void {
  writeFileSync(stampOf(out), JSON.stringify({ sources, bundles } satisfies Stamp));
}

const stampOf = (out: string): string => `${out}.stamp.json`;

function readStamp(out: string): Stamp | undefined {
  try {
    return JSON.parse(readFileSync(stampOf(out), "utf8")) as Stamp;
  } catch {
    return undefined; // none, or cut short: the bundles are built again
  }
}

/** What runs on this machine alone is no part of a bundle; of the console any file is, its styles as well, and so is any page of the documentation. */
const isBundled = (file: string): boolean =>
  /^(console|docs)\/|\.md$/.test(file) || (/\.(ts|json|sql)$/.test(file) && !/^(local|cli)\//.test(file));

/** The files below a folder that are wanted, by relative path, in order. */
export function sourcesIn(folder: string, isWanted: (file: string) => boolean): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .filter(isWanted)
    .sort();
}
