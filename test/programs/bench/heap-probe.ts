import { renameSync, writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Loaded into the process that is measured, before its program: on SIGUSR2 it collects all garbage and writes the bytes
 * that are still in use, on the heap and beside it, to the file that LIVE_BYTES_FILE names.
 */
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
const file = process.env["LIVE_BYTES_FILE"] ?? "";

process.on("SIGUSR2", () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, String(heapUsed + external));
  renameSync(`${file}.new`, file);
});
