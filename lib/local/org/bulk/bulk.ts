import { mkdirSync } from "node:fs";
import type { PartsBeforeBulk } from "../parts-before-bulk.ts";
import { IngestJobs } from "./ingest-jobs.ts";
import { QueryJobs } from "./query-jobs.ts";
import { WorkQueue } from "./work-queue.ts";

/** Bulk API 2.0: jobs that outlive their requests, and the org itself. */
export class Bulk {
  readonly query: QueryJobs;
  readonly ingest: IngestJobs;
  readonly #work: readonly WorkQueue[];

  /** Unfinished jobs of an earlier run continue at once. */
  constructor(parts: PartsBeforeBulk, folder: string) {
    mkdirSync(folder, { recursive: true });
    const [queries, uploads] = [new WorkQueue(), new WorkQueue()];
    this.#work = [queries, uploads];
    this.query = new QueryJobs(parts, folder, queries);
    this.ingest = new IngestJobs(parts, folder, uploads);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#work.map((queue) => queue.stop()));
  }
}
