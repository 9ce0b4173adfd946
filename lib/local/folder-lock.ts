import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Gives the folder free for the next owner. */
export interface FolderLock {
  release(): void;
}

const BUSY = 5;

/**
 * Makes this process the only owner of a data folder, creating it (mode 0700) where needed. The system itself frees
 * the lock when the owner dies, however it dies. Throws with the owner's pid when the folder is taken.
 */
export function lockFolder(folder: string): FolderLock {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ownerFile = join(folder, "owner.pid");
  const lock = new DatabaseSync(join(folder, "owner.lock"));
  try {
    lock.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw error;
    throw new Error(
      `the data folder ${folder} is in use by process ${pidIn(ownerFile)}: stop that process, or choose another folder`,
      { cause: error },
    );
  }
  writeFileSync(ownerFile, `${process.pid}\n`, { mode: 0o600 });
  return { release: () => lock.close() };
}

function pidIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "that is starting right now";
  }
}
