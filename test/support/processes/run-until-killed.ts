import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/**
 * Runs a script of this folder in a process of its own until it prints its line: JSON of what it says about itself. It
 * is killed with the test at the latest.
 */
export async function runUntilKilled(script: string, ...args: string[]) {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
  /** SIGKILL: it gets no chance to tidy up. Resolves when it is gone. */
  const kill = async () => {
    child.kill("SIGKILL");
    await gone;
  };
  onTestFinished(kill);
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    gone.then(() => {
      throw new Error(`${script} ended before it was ready`);
    }),
  ]);
  return { child, said: JSON.parse(String(line)) as Record<string, string>, kill };
}
