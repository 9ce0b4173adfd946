import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Makes the folder hold exactly these files (by relative path); those that lead out of it with `../` are written too.
 * Each file appears whole or not at all and an unchanged one stays untouched, so that a reader is not disturbed.
 */
export function replaceFolders(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  mkdirSync(folder, { recursive: true });
  const unfinished = `${folder}.unfinished-${process.pid}`;
  for (const [path, contents] of files) writeWhole(join(folder, path), contents, unfinished);
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = join(folder, path);
    if (!isNeeded(path.replaceAll("\\", "/"), files)) rmSync(file, { recursive: true, force: true });
  }
}

function isNeeded(path: string, files: ReadonlyMap<string, Uint8Array>): boolean {
  return files.has(path) || [...files.keys()].some((file) => file.startsWith(`${path}/`));
}

function writeWhole(file: string, contents: Uint8Array, unfinished: string): void {
  if (isSame(file, contents)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(unfinished, contents);
  renameSync(unfinished, file);
}

function isSame(file: string, contents: Uint8Array): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.size === contents.length && readFileSync(file).equals(contents);
}
