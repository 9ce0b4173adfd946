import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "../infra/build.ts";
import { synthesize } from "../infra/synthesize.ts";

/** Assemblies of other sources are kept this long, for instances that still run on them. */
const KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

/** Makes the cloud assembly of the present sources: the folder appears whole or not at all, whoever else makes the same. */
async function makeAssembly(folder: string): Promise<void> {
  await build();
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  synthesize({ outdir: unfinished });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(unfinished, { recursive: true }); // somebody else was faster
  }
  forgetOldAssemblies(folder);
}

function forgetOldAssemblies(current: string): void {
  const others = readdirSync(dirname(current))
    .map((name) => join(dirname(current), name))
    .filter((folder) => folder !== current);
  for (const folder of others) {
    if (Date.now() - statSync(folder).mtimeMs > KEPT_MILLISECONDS) rmSync(folder, { recursive: true, force: true });
  }
}

const folder = process.argv[2];
if (folder === undefined) throw new Error("say the folder: make-assembly.ts FOLDER");
await makeAssembly(folder);
