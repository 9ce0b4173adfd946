import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** What is created once in a test run is here. */
    readonly sharedFolder: string;
  }
}

/**
 * Makes the folder that all test files share, and removes it after the last. They run in several processes, and
 * most load the same packages: Node keeps there what it has compiled of them.
 */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "bridge-shared-"));
  project.provide("sharedFolder", folder);
  process.env["NODE_COMPILE_CACHE"] ??= join(folder, "compiled");
  return () => rmSync(folder, { recursive: true, force: true });
}
