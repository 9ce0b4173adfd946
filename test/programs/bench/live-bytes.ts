import { existsSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as after } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { LiveBytes } from "./heap-probe.ts";

/** The environment of a process to measure: it loads these probes, and the heap's probe writes to the file. */
export function probed(file: string, probes = ["heap-probe.ts", "call-probe.ts"]): Record<string, string> {
  const load = (probe: string) => `--import=${pathToFileURL(resolve(import.meta.dirname, probe)).href}`;
  return { NODE_OPTIONS: probes.map(load).join(" "), LIVE_BYTES_FILE: file };
}

/** Collects the garbage of a probed process, and reads what it still uses. */
export async function liveBytes(pid: number, file: string): Promise<LiveBytes> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await after(5);
  return JSON.parse(readFileSync(file, "utf8")) as LiveBytes;
}
