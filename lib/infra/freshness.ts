import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bundle } from "./build.ts";

/** What a build was made of, and what came of it. */
interface Stamp {
  readonly sources: string;
  readonly bundles: readonly Bundle[];
}

/** A digest of everything that bundles are made of: their sources, how they are built, and the packages installed. */
export function digestOfSources(project: string, functions: string): string {
  const hash = createHash("sha256");
  for (const folder of [functions, join(project, "lib")]) {
    for (const file of existsSync(folder) ? sourcesIn(folder) : []) {
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(folder, file)))
        .update("\0");
    }
  }
  for (const file of ["tsconfig.json", "node_modules/.package-lock.json"]) {
    if (existsSync(join(project, file))) hash.update(readFileSync(join(project, file)));
  }
  return hash.digest("hex");
}

/** The bundles in a folder if they were made of these sources and are still there; undefined asks for a build. */
export function freshBundles(out: string, sources: string): readonly Bundle[] | undefined {
  const stamp = readStamp(out);
  if (stamp?.sources !== sources) return undefined;
  const isThere = ({ name, bytes }: Bundle) =>
    statSync(join(out, name, "index.mjs"), { throwIfNoEntry: false })?.size === bytes;
  return stamp.bundles.every(isThere) ? stamp.bundles : undefined;
}

/** Remembers, beside the folder, what its bundles were made of. */
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

/** What runs on this machine alone is no part of a bundle. */
function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => /\.(ts|json)$/.test(file) && !/^(local|cli|console)\//.test(file))
    .sort();
}
