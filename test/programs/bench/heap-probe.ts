import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** What a probed process uses once its garbage is gone, in bytes. */
export interface LiveBytes {
  readonly heap: number;
  /** Buffers and the like, which stand beside the heap. */
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
  const live: LiveBytes = { heap: heapUsed, external };
  writeFileSync(`${file}.new`, JSON.stringify(live));
  renameSync(`${file}.new`, file);
});
