import { appendFileSync, closeSync, openSync, readSync, renameSync, type Stats, statSync } from "node:fs";

/** A power cut or a full disk may have left a part of a line; the next one must not be glued to it. */
function endsWithLine(file: string, status: Stats | undefined): boolean {
  if (!status?.isFile() || status.size === 0) return true;
  const last = Buffer.alloc(1);
  const opened = openSync(file, "r");
  readSync(opened, last, 0, 1, status.size - 1);
  closeSync(opened);
  return last.toString() === "\n";
}

const MAXIMUM_BYTES = 16 * 1024 * 1024;

/** Writes a line at once and whole; gives the system's reason when it cannot. */
export type AppendLine = (line: string) => string | null;

/** A log of at most two files, for its owner alone: the running one, and `.1`, the one before, each of `maximumBytes`. */
export function boundedLog(file: string, maximumBytes = MAXIMUM_BYTES): AppendLine {
  const status = statSync(file, { throwIfNoEntry: false });
  let bytes = status?.size ?? 0;
  let isTorn = !endsWithLine(file, status);
  return (line) => {
    const entry = `${isTorn ? "\n" : ""}${line}\n`;
    const more = Buffer.byteLength(entry);
    try {
      if (bytes > 0 && bytes + more > maximumBytes) {
        renameSync(file, `${file}.1`);
        bytes = 0;
      }
      appendFileSync(file, entry, { mode: 0o600 });
      bytes += more;
      isTorn = false;
      return null;
    } catch (error) {
      isTorn = true; // a full disk may have stored a part of it
      return (error as Error).message;
    }
  };
}
