import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** Another process that holds parts of the machine, to be killed. */
export interface Victim {
  readonly child: ChildProcess;
  /** What it said about itself when it was ready: one line of JSON. */
  readonly said: Record<string, string>;
  /** SIGKILL: it gets no chance to tidy up. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** Runs a script of this folder in a process of its own until it prints its line. It is killed with the test at the latest. */
export async function runUntilKilled(script: string, ...args: string[]): Promise<Victim> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = once(child, "exit");
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
