import { spawn } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { BUNDLED } from "../infra/bundle.ts";
import { digestOfSources } from "../infra/freshness.ts";
import { readAssembly } from "./cloud/lambda/template/assembly.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** Cloud assemblies, each in a folder named by a digest of its sources, so that one in use is never changed. */
const ASSEMBLIES = join(PROJECT, "dist/assemblies");

/** Assemblies of other sources are kept this long, for instances that still run on them. */
const KEPT_MILLISECONDS = 7 * 24 * 60 * 60 * 1000;

interface Order {
  readonly shared?: boolean;
  /** Receives what has been done, a phrase each. */
  readonly progress?: (step: string) => void;
}

/**
 * The deployment of the present sources as `cdk deploy` would have it: the folder of its cloud assembly, made unless it
 * is there, whole or not at all. The program that the CDK runs makes it, so what cannot be deployed does not start. Its
 * bundles are those that are deployed, or with `shared` the same functions, with what they have in common loaded once
 * (`buildShared`).
 */
export async function assemble({ shared = false, progress }: Order = {}): Promise<string> {
  const settings = readFileSync(join(PROJECT, "cdk.json"), "utf8");
  const folder = join(ASSEMBLIES, shared ? `${digest(settings)}-shared` : digest(settings));
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.${randomUUID()}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    await runApp(settings, unfinished, shared, progress);
    if (readAssembly(unfinished).stacks.length === 0) throw new Error("the deployment has no stacks");
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error; // else another start was faster
  }
  forgetOldAssemblies(folder);
  return folder;
}

/**
 * Runs the command of cdk.json with what the CDK's command line gives it. In a process of its own, because the CDK is
 * large and needed for seconds only.
 */
async function runApp(settings: string, outdir: string, shared: boolean, progress?: Order["progress"]): Promise<void> {
  const { app, context } = JSON.parse(settings) as { readonly app: string; readonly context: object };
  const child = spawn(app, {
    cwd: PROJECT,
    shell: true,
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify({
        ...context,
        "aws:cdk:enable-path-metadata": true,
        "aws:cdk:enable-asset-metadata": true,
      }),
      // The CDK would check each template against CloudFormation's rules for seconds, and only warn. None goes there.
      CDK_VALIDATION: "false",
      // A bundle is copied beside its original, so that its way to what it shares with others stays the same.
      ...(shared && { BRIDGE_SHARED_BUNDLES: outdir }),
    },
  });
  const said: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (line === BUNDLED) progress?.(line);
    else said.push(line);
  });
  const code = await new Promise<number | null>((done, reject) => {
    child.once("error", reject);
    child.once("close", done);
  });
  if (code !== 0) throw new Error(`the deployment could not be created:\n${said.join("\n").trim()}`);
}

function forgetOldAssemblies(current: string): void {
  const others = readdirSync(dirname(current))
    .map((name) => join(dirname(current), name))
    .filter((folder) => folder !== current);
  for (const folder of others) {
    const changed = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - changed > KEPT_MILLISECONDS) rmSync(folder, { recursive: true, force: true });
  }
}

function digest(settings: string): string {
  const sources = digestOfSources(PROJECT, join(PROJECT, "functions"));
  const app = readFileSync(join(PROJECT, "bin/deploy.ts"));
  return createHash("sha256").update(sources).update(settings).update(app).digest("hex").slice(0, 20);
}
