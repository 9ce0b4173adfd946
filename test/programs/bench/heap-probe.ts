import { renameSync, writeFileSync } from "node:fs";
import { getHeapCodeStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a probed process uses once its garbage is gone, in bytes. */
export interface LiveBytes {
  readonly heap: number;
  /** Of them what V8 has compiled, which grows for hours as it optimizes one function after another. */
  readonly code: number;
  /** Buffers and the like, outside of the heap. */
  readonly external: number;
}

/**
 * Loaded into the process that is measured, before its program: on SIGUSR2 it collects all garbage and writes the bytes
 * that are still in use to the file that LIVE_BYTES_FILE names, as JSON.
 */
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const file = process.env["LIVE_BYTES_FILE"] ?? "";

process.on("SIGUSR2", () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  const { code_and_metadata_size: machineCode, bytecode_and_metadata_size: bytecode } = getHeapCodeStatistics();
  const live: LiveBytes = { heap: heapUsed, code: machineCode + bytecode, external };
  writeFileSync(`${file}.new`, JSON.stringify(live));
  renameSync(`${file}.new`, file);
});
