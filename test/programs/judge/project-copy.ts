import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type Bug, plantedIn } from "./bug.ts";

/** A copy of the project, in which bugs are planted. */
export interface ProjectCopy {
  readonly folder: string;
  /** Puts these bugs into the copy, and takes out those that were in it. */
  plant(bugs: readonly Bug[]): void;
  remove(): void;
}

/** What a build creates, what belongs to another tool, what is linked, and the test that knows each bug by its text. */
const LEFT_OUT = /^(\.git|\.bridge|node_modules|dist|cdk\.out|coverage|test\/programs\/judge\/judge\.test\.ts)$/;

/** Copies the project into a folder for temporary files; nothing is ever written into the project itself. */
export function copyProject(project: string): ProjectCopy {
  const folder = mkdtempSync(join(tmpdir(), "bridge-judge-"));
  cpSync(project, folder, { recursive: true, filter: (path) => !LEFT_OUT.test(relative(project, path)) });
  linkPackages(join(project, "node_modules"), join(folder, "node_modules"));
  // Some tests ask Git which files there are.
  for (const command of [
    ["init", "--quiet"],
    ["add", "--all"],
  ])
    spawnSync("git", command, { cwd: folder });
  const read = (file: string) => readFileSync(join(project, file), "utf8");
  let changed: readonly string[] = [];
  return {
    folder,
    plant: (bugs) => {
      const texts = new Map(bugs.map((bug) => [bug.file, plantedIn(read(bug.file), bug)]));
      for (const file of changed) writeFileSync(join(folder, file), read(file));
      for (const [file, text] of texts) writeFileSync(join(folder, file), text);
      changed = [...texts.keys()];
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A folder of links, so that caches are written beside them; the project's own packages are the copy's. */
function linkPackages(from: string, to: string): void {
  const own = /^bridge-local-(.+)$/;
  mkdirSync(to);
  for (const name of readdirSync(from).filter((one) => !/^\.(vite|vitest|cache)/.test(one))) {
    const part = own.exec(name)?.[1];
    symlinkSync(part ? join("..", "lib/local", part) : join(from, name), join(to, name));
  }
}
