import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Import } from "../../support/checks/imports.ts";

/** What is counted as the product: what deploys, without the clients, the local cloud, the deployment and generated types. */
const NOT_PRODUCT = /^lib\/(console|cli|local|infra|docs)\/|openapi\/types\.ts$/;

/** Files of the project that git tracks. */
function tracked(...folders: readonly string[]): string[] {
  return execFileSync("git", ["ls-files", ...folders], { encoding: "utf8" })
    .trim()
    .split("\n");
}

const productFiles = () =>
  tracked("bin", "functions", "lib").filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !NOT_PRODUCT.test(file));

/** Lines of the product's files. */
export function productLines(): number {
  return productFiles().reduce((lines, file) => lines + readFileSync(file, "utf8").split("\n").length - 1, 0);
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

/** Exported declarations of the file of ports that has the most. */
export function largestPort(): Record<string, number> {
  const counts = productFiles()
    .filter((file) => /(^|\/|-)ports\.ts$/.test(file))
    .map((file) => [file, readFileSync(file, "utf8").match(/^export /gm)?.length ?? 0] as const);
  return Object.fromEntries(counts.sort(([, one], [, other]) => other - one).slice(0, 1));
}
