import { expect } from "vitest";
import type { SyncWorld } from "./sync-world.ts";

interface IngestJob {
  readonly id: string;
  readonly state: string;
}

/** The Bulk API jobs of the org that save records, oldest first. */
export async function ingestJobs(world: SyncWorld): Promise<readonly IngestJob[]> {
  return ((await world.rest("GET", "/jobs/ingest")) as { records: IngestJob[] }).records;
}

/** Resolves once the org has ended every job that saves records. */
export async function untilJobsEnd(world: SyncWorld): Promise<void> {
  await expect
    .poll(async () => (await ingestJobs(world)).every(({ state }) => !/Upload|Progress/.test(state)))
    .toBe(true);
}

/** From now on a job has ended when its cycle first polls it, however busy the machine is. */
export function endJobsBeforeLooks(world: SyncWorld): void {
  world.interfere((call) => (call === "org.pollBulkSave" ? untilJobsEnd(world) : undefined));
}
