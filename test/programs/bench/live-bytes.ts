import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { getHeapCodeStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a probed process uses once its garbage is gone, in bytes. */
interface LiveBytes {
  readonly heap: number;
  /** Of them what V8 has compiled, which grows for hours as it optimizes one function after another. */
  readonly code: number;
  /** Buffers and the like, outside of the heap. */
  readonly external: number;
}

/** The environment of a process to measure: it loads this file and further probes. */
export function probed(file: string, ...probes: readonly string[]): Record<string, string> {
  const load = (probe: string) => `--import=${pathToFileURL(probe).href}`;
  return { NODE_OPTIONS: [import.meta.filename, ...probes].map(load).join(" "), LIVE_BYTES_FILE: file };
}

/** Collects the garbage of a probed process, and reads what it still uses. */
export async function liveBytes(pid: number, file: string): Promise<LiveBytes> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await after(5);
  return JSON.parse(readFileSync(file, "utf8")) as LiveBytes;
}

// In the process that is measured: loaded before its program, it answers each SIGUSR2 by that file.
const file = process.env["LIVE_BYTES_FILE"];
if (file !== undefined) {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  process.on("SIGUSR2", () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    const { code_and_metadata_size: machineCode, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
    const live: LiveBytes = { heap: heapUsed, code: machineCode + bytecode, external };
    writeFileSync(`${file}.new`, JSON.stringify(live));
    renameSync(`${file}.new`, file);
  });
}
