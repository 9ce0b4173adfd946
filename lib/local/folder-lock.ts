import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Gives the folder free for the next owner. */
export interface FolderLock {
  release(): void;
}

const BUSY = 5;

/**
 * Makes this process the only owner of a data folder, creating it (mode 0700) where needed. The system itself frees the
 * lock when the owner dies, however it dies. Throws with the owner's pid when the folder is in use, and with the
 * system's reason when it cannot be written.
 */
export function lockFolder(folder: string): FolderLock {
  const ownerFile = join(folder, "owner.pid");
  let lock: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    lock = new DatabaseSync(join(folder, "owner.lock"));
    lock.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;");
    writeFileSync(ownerFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== BUSY) throw unwritable(folder, error as Error);
    const remedy = "stop that process, or choose another folder";
    throw new Error(`the data folder ${folder} is in use by process ${pidIn(ownerFile)}: ${remedy}`, { cause: error });
  }
  const held = lock;
  return { release: () => held.close() };
}

/** What is said of a data folder that the system does not let this process write. */
export function unwritable(folder: string, cause: Error): Error {
  const remedy = "give this user the right to, and room on the disk, or choose another folder";
  return new Error(`the data folder ${folder} cannot be written (${cause.message}): ${remedy}`, { cause });
}

function pidIn(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return "that is starting right now";
  }
}
