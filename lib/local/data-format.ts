import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unwritable } from "./folder-lock.ts";

/** How this version lays out a data folder. A later one that does it otherwise counts on, and moves older folders on. */
const FORMAT = 1;

const NAME = "format";

/** Writes into a new data folder how it is laid out; throws where a newer version of Bridge has made it. */
export function checkFormat(dataDir: string): void {
  const path = join(dataDir, NAME);
  const found = read(path);
  // A start that was killed just then leaves an empty one.
  if (found === null || found === "") {
    try {
      writeFileSync(path, `${FORMAT}\n`, { mode: 0o644 });
    } catch (error) {
      throw unwritable(dataDir, error as Error);
    }
    return;
  }
  if (!/^[1-9]\d{0,8}$/.test(found)) {
    throw new Error(
      `${path} holds ${JSON.stringify(found)} instead of a number: write ${FORMAT} into it, or choose another data folder`,
    );
  }
  if (Number(found) > FORMAT) {
    throw new Error(
      `the data folder ${dataDir} has format ${found}, and this version of Bridge knows formats up to ${FORMAT}: start the newer version that made it, or choose another data folder`,
    );
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim().slice(0, 100);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
