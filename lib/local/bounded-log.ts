import { appendFileSync, renameSync, statSync } from "node:fs";

const MAXIMUM_BYTES = 16 * 1024 * 1024;

/** Writes a line at once and whole; gives the system's reason when it cannot. */
export type AppendLine = (line: string) => string | null;

/** A log of at most two files, for its owner alone: the running one, and `.1`, the one before, each of `maximumBytes`. */
export function boundedLog(file: string, maximumBytes = MAXIMUM_BYTES): AppendLine {
  let bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return (line) => {
    const entry = `${line}\n`;
    const more = Buffer.byteLength(entry);
    try {
      if (bytes > 0 && bytes + more > maximumBytes) {
        renameSync(file, `${file}.1`);
        bytes = 0;
      }
      appendFileSync(file, entry, { mode: 0o600 });
      bytes += more;
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
}
