import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux's folder whose files are kept in memory. */
const SHARED_MEMORY = "/dev/shm";

/** More than all files of a run are at a time. */
const ROOM_BYTES = 4 * 1024 ** 3;

const FOLDER = /^bridge-tests-(\d+)$/;

/**
 * Lets temporary files of the run lie in memory, where the machine has the room and no other place is set: making
 * a database writes hundreds of files, which takes a disk several times as long. They go with the run; what a killed one
 * left goes with the next.
 */
export default function setup(): () => void {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return () => undefined;
  forgetTheDead();
  const folder = join(SHARED_MEMORY, `bridge-tests-${process.pid}`);
  mkdirSync(folder, { mode: 0o755 }); // PostgreSQL may run as another user
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  if (!existsSync(SHARED_MEMORY)) return false;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  return bavail * bsize >= ROOM_BYTES;
}

function forgetTheDead(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const owner = FOLDER.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`))
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true });
  }
}
