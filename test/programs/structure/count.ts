import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Import } from "../../support/checks/imports.ts";

/** What is counted as the product: what deploys, without the clients, the local cloud, the deployment and generated types. */
const NOT_PRODUCT = /^lib\/(console|cli|local|infra|docs)\/|openapi\/types\.ts$/;

/** Files of the project that git tracks. */
function tracked(...folders: readonly string[]): string[] {
  return execFileSync("git", ["ls-files", ...folders], { encoding: "utf8" })
    .trim()
    .split("\n");
}

const sources = (...folders: readonly string[]): string[] => tracked(...folders).filter((file) => /\.tsx?$/.test(file));

/** Lines of the product's files. */
export function productLines(): number {
  return tracked("bin", "functions", "lib")
    .filter((file) => /\.(ts|tsx|mjs|sql)$/.test(file) && !NOT_PRODUCT.test(file))
    .reduce((lines, file) => lines + readFileSync(file, "utf8").split("\n").length - 1, 0);
}

/** Import statements between files of different folders below a folder. */
export function chapterEdges(imports: readonly Import[], folder: string): number {
  const isInside = (path: string) => path.startsWith(folder);
  return imports.filter(({ from, to }) => isInside(from) && isInside(to) && dirname(from) !== dirname(to)).length;
}

/** The folders of lib and functions with the most files of their own, `functions/api` aside. */
export function filesPerFolder(): Record<string, number> {
  const counts = new Map<string, number>();
  for (const file of tracked("lib", "functions")) {
    if (/\.tsx?$/.test(file)) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
  }
  counts.delete("functions/api");
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one).slice(0, 5));
}

/** A folder may hold this many files of code; more are chapters that have no name yet. */
const MOST_FILES = 25;

/** Folders with more files of code than that, `functions/api` aside, which is a list. */
export function fullFolders(files = sources("bin", "functions", "lib", "test")): string[] {
  const counts = Map.groupBy(files, (file) => dirname(file));
  counts.delete("functions/api");
  return [...counts]
    .filter(([, inside]) => inside.length > MOST_FILES)
    .map(([folder, { length }]) => `${folder}: ${length}`);
}

/** Pairs of chapters of one room that import each other, with the imports; a file beside the chapters is one of its own. */
export function mutualChapters(imports: readonly Import[]): string[] {
  const crossing = imports.filter(
    ({ from, to, isPackage }) =>
      !isPackage && from.startsWith("lib/") && roomOf(from) === roomOf(to) && chapterOf(from) !== chapterOf(to),
  );
  const pairs = Map.groupBy(crossing, ({ from, to }) => [chapterOf(from), chapterOf(to)].sort().join(" <> "));
  return [...pairs].flatMap(([pair, edges]) => {
    const isMutual = new Set(edges.map(({ from }) => chapterOf(from))).size > 1;
    return isMutual
      ? [
          `${pair}: ${edges
            .map(({ from, to }) => `${from} > ${to}`)
            .sort()
            .join(", ")}`,
        ]
      : [];
  });
}

/** Names that two files of one room have. */
export function sameNames(files = sources("functions", "lib")): string[] {
  const named = Map.groupBy(files, (file) => `${roomOf(file)}: ${basename(file)}`);
  return [...named].filter(([, same]) => same.length > 1).map(([name]) => name);
}

/** The room of a file: `lib/sync`, `lib/adapters/postgres`, `functions`; each service of the embedded cloud is one. */
function roomOf(file: string): string {
  const [top = "", room = "", adapter = ""] = dirname(file).split("/");
  if (top !== "lib") return top;
  if (room === "local" && adapter === "cloud") return dirname(file).split("/").slice(0, 4).join("/");
  return room === "adapters" || room === "local" ? `${top}/${room}/${adapter}` : `${top}/${room}`;
}

/** The folder inside a room that a file belongs to, however deep, or the file itself. */
function chapterOf(file: string): string {
  const room = roomOf(file);
  const [chapter = ""] = file.slice(room.length + 1).split("/");
  return `${room}/${chapter}`;
}

/** How many groups of files import each other, directly or through others. */
export function importCycles(imports: readonly Import[], { withTypes }: { readonly withTypes: boolean }): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to, isPackage, isType } of imports) {
    if (!isPackage && (withTypes || !isType)) next.set(from, [...(next.get(from) ?? []), to]);
  }
  return stronglyConnected(next).map((files) => files.sort().join(", "));
}

/** Tarjan's algorithm: the groups of more than one file. */
function stronglyConnected(next: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const groups: string[][] = [];
  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) ?? 0);
    stack.push(file);
    for (const other of next.get(file) ?? []) {
      if (!index.has(other)) visit(other);
      if (stack.includes(other)) low.set(file, Math.min(low.get(file) ?? 0, low.get(other) ?? 0));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) groups.push(group);
  };
  for (const file of next.keys()) if (!index.has(file)) visit(file);
  return groups;
}
