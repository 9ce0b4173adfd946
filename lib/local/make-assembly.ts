import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { build, buildShared } from "../infra/build.ts";

/** Assemblies of other sources are kept this long, for instances that still run on them. */
const KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

/** Creates the cloud assembly of the present sources: the folder appears whole or not at all. */
async function makeAssembly(folder: string, isShared: boolean): Promise<void> {
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(dirname(folder), { recursive: true });
  const building = (isShared ? buildShared(unfinished) : build()).then(() => console.log("functions bundled"));
  // esbuild and Vite work in processes of their own; meanwhile this one loads the CDK.
  const [{ synthesize }] = await Promise.all([import("../infra/synthesize.ts"), building]);
  // A bundle is copied beside its original, so that its way to what it shares with others stays the same.
  synthesize({ outdir: unfinished, ...(isShared && { bundles: unfinished }) });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(unfinished, { recursive: true }); // another start was faster
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

const [folder, shared] = process.argv.slice(2);
if (folder === undefined) throw new Error("say the folder: make-assembly.ts FOLDER [--shared]");
await makeAssembly(folder, shared === "--shared");
