import { spawn } from "node:child_process";
import { createInterface } from "node:readline/promises";
import { openOrg } from "../../../lib/local/org/run-org.ts";
import type { Org } from "../../../lib/local/org/start-org.ts";

/** An org in a process of its own. */
export interface Child extends Omit<Org, "close"> {
  readonly token: string;
  readonly pid: number;
  stop(signal?: NodeJS.Signals): void;
}

/**
 * Starts an org on the folder in a process of its own, which ends with this one; resolves when it answers. `definition`
 * is a file.
 */
export async function spawnOrg(dataDir: string, definition?: string): Promise<Child> {
  const args = [import.meta.filename, dataDir, ...(definition === undefined ? [] : [definition])];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const org = JSON.parse(line) as Omit<Child, "pid" | "stop">;
    return { ...org, pid: child.pid ?? 0, stop: (signal) => child.kill(signal) };
  }
  throw new Error("the org's process ended before it was ready");
}

if (import.meta.main) {
  const [, , dataDir = "", definition = null] = process.argv;
  const org = await openOrg({ dataDir, definition, port: 0, dailyApiRequests: 1_000_000_000, controls: true });
  console.log(JSON.stringify({ ...org, token: org.accessToken }));
  // The parent holds the other end, and closes it however it ends.
  process.stdin.resume().once("end", () => process.exit());
}
