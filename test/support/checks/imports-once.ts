import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { madeOnce } from "../run/made-once.ts";
import { type Import, readImports } from "./imports.ts";

/** Every import of the project's own sources. The first test file of a run that asks reads them: that takes seconds. */
export async function importsOnce(): Promise<Import[]> {
  const folder = await madeOnce("imports", (made) =>
    writeFileSync(join(made, "imports.json"), JSON.stringify(readImports())),
  );
  return JSON.parse(readFileSync(join(folder, "imports.json"), "utf8")) as Import[];
}
