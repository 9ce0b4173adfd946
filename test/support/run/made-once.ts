import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, renameSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";

/** The folder of what goes by this name in the present run, created by the first caller. It must not be changed. */
export async function madeOnce(name: string, make: (folder: string) => unknown): Promise<string> {
  const folder = join(inject("sharedFolder"), createHash("sha256").update(name).digest("hex").slice(0, 20));
  if (existsSync(folder)) return folder;
  const unfinished = mkdtempSync(`${folder}.`);
  await make(unfinished);
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error; // else another file was quicker, and its folder serves as well
  }
  return folder;
}
