import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { digestOfSources } from "../infra/freshness.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

/** Cloud assemblies, each in a folder named by a digest of its sources, so that one in use is never changed. */
const ASSEMBLIES = join(PROJECT, "dist/assemblies");

/** The program that makes one. Importing it would keep the CDK's 18 MB in this process for good. */
const MAKE = join(import.meta.dirname, "make-assembly.ts");

interface Order {
  readonly shared?: boolean;
  /** Receives what has been done, a phrase each. */
  readonly progress?: (step: string) => void;
}

/**
 * The deployment of the present sources as `cdk deploy` would have it: the folder of its cloud assembly, made unless it
 * is there. In a process of its own, because the CDK is large and needed for seconds only. Its bundles are those that are
 * deployed, or with `shared` the same functions, with what they have in common loaded once (`buildShared`).
 */
export async function assemble({ shared = false, progress }: Order = {}): Promise<string> {
  const folder = join(ASSEMBLIES, shared ? `${digest()}-shared` : digest());
  if (existsSync(folder)) return folder;
  // The CDK would check each template against CloudFormation's rules for seconds, and only warn. None of them goes there.
  const env = { ...process.env, CDK_VALIDATION: "false" };
  const child = spawn(process.execPath, [MAKE, folder, ...(shared ? ["--shared"] : [])], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  createInterface({ input: child.stdout }).on("line", (line) => progress?.(line));
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
