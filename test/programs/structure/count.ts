import { execFileSync } from "node:child_process";
import { basename, dirname } from "node:path";
import type { Import } from "../../support/checks/imports.ts";

/** Files of code that git tracks. */
const sources = (...folders: readonly string[]): string[] =>
  execFileSync("git", ["ls-files", ...folders], { encoding: "utf8" })
    .split("\n")
    .filter((file) => /\.tsx?$/.test(file));

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
    const named = edges.map(({ from, to }) => `${from} > ${to}`).sort();
    return isMutual ? [`${pair}: ${named.join(", ")}`] : [];
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

/** The files that import each other, directly or through others, and those between them, as one text; none where there is no cycle. */
export function importCycles(imports: readonly Import[], { withTypes }: { readonly withTypes: boolean }): string[] {
  let edges = imports.filter(({ isPackage, isType }) => !isPackage && (withTypes || !isType));
  // A file that imports none of the rest, or that none of the rest imports, is in no cycle.
  for (let before = -1; before !== edges.length; ) {
    before = edges.length;
    const [importing, imported] = [new Set(edges.map(({ from }) => from)), new Set(edges.map(({ to }) => to))];
    edges = edges.filter(({ from, to }) => imported.has(from) && importing.has(to));
  }
  return edges.length === 0 ? [] : [[...new Set(edges.map(({ from }) => from))].sort().join(", ")];
}
