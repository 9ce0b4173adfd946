import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "../infra/build.ts";
import { synthesize } from "../infra/synthesize.ts";

/**
 * Builds the bundles and synthesizes the deployment into the folder, exactly as `cdk deploy` would; returns the cloud
 * assembly's folder. In a process of its own, because the CDK is large and needed for these seconds only; in a folder
 * of its own, so that instances beside each other don't disturb one another.
 */
export async function assemble(folder: string): Promise<string> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), folder], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`the functions could not be built:\n${said.trim()}`);
  return join(folder, "assembly");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2] ?? ".bridge";
  const bundles = join(folder, "bundles");
  await build({ out: bundles });
  synthesize({ bundles, outdir: join(folder, "assembly") });
}
