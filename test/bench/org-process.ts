import { spawn } from "node:child_process";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";

/** An org in a process of its own. */
export interface Child {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  stop(signal?: NodeJS.Signals): void;
}

const SERVER = fileURLToPath(new URL("./org-server.ts", import.meta.url));

/** Starts an org on the folder in a process of its own; resolves when it answers. */
export async function spawnOrg(dataDir: string): Promise<Child> {
  const child = spawn(process.execPath, [SERVER, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) {
    const { url, token } = JSON.parse(line) as { url: string; token: string };
    return { url, token, pid: child.pid ?? 0, stop: (signal) => child.kill(signal) };
  }
  throw new Error("the org's process ended before it was ready");
}
