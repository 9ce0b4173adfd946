import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** What is made once in a test run lies here. */
    readonly sharedFolder: string;
  }
}

/** Makes the folder that all test files share, and removes it after the last. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "bridge-shared-"));
  project.provide("sharedFolder", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
