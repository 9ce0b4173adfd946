import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../infra/build.ts";
import { digestOfSources } from "../infra/freshness.ts";
import { synthesize } from "../infra/synthesize.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** Cloud assemblies, each in a folder named after what it was made of, so that one in use is never changed. */
const ASSEMBLIES = join(PROJECT, "dist/assemblies");

/** Assemblies of other sources are kept this long, for instances that still run on them. */
const KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

/**
 * The deployment of the present sources, bundles and all, exactly as `cdk deploy` would have it: the folder of its cloud
 * assembly, made unless it is there. In a process of its own, because the CDK is large and needed for seconds only.
 */
export async function assemble(): Promise<string> {
  const folder = join(ASSEMBLIES, digest());
  if (existsSync(folder)) return folder;
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), folder], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise<number | null>((done, reject) => {
    child.once("error", reject);
    child.once("close", done);
  });
  if (code !== 0) throw new Error(`the functions could not be built:\n${said.trim()}`);
  return folder;
}

function digest(): string {
  const sources = digestOfSources(PROJECT, join(PROJECT, "functions"));
  const settings = readFileSync(join(PROJECT, "cdk.json"));
  return createHash("sha256").update(sources).update(settings).digest("hex").slice(0, 20);
}

/** Appears whole or not at all, whoever else makes the same. */
async function makeAssembly(folder: string): Promise<void> {
  await build();
  const unfinished = `${folder}.${process.pid}`;
  mkdirSync(ASSEMBLIES, { recursive: true });
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
  const others = readdirSync(ASSEMBLIES)
    .map((name) => join(ASSEMBLIES, name))
    .filter((folder) => folder !== current);
  for (const folder of others) {
    if (Date.now() - statSync(folder).mtimeMs > KEPT_MILLISECONDS) rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await makeAssembly(process.argv[2] ?? join(ASSEMBLIES, digest()));
