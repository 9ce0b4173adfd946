import { isOver } from "./bulk/job.ts";
import { stampOf } from "./clock.ts";
import type { Parts } from "./parts.ts";
import { ownSaving } from "./saving/saving.ts";

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** How long Salesforce keeps what is deleted, and the results of bulk jobs (salesforce-facts 6 and 9). */
const BIN_DAYS = 15;
const DELETE_LOG_DAYS = 30;
const JOB_DAYS = 7;

/** Removes what has had its time: recycle bin, delete log, bulk jobs, sessions and codes. Looked after once an hour of the org's clock. */
export class Housekeeping {
  readonly #parts: Parts;
  #due = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Does what is due; most calls find nothing to do. */
  async look(): Promise<void> {
    const now = this.#parts.clock.now().getTime();
    if (now < this.#due) return;
    this.#due = now + HOUR_MS;
    this.#emptyBin(new Date(now - BIN_DAYS * DAY_MS));
    const { database } = this.#parts;
    database.run("DELETE FROM _deleted WHERE deleted_at < ?", stampOf(new Date(now - DELETE_LOG_DAYS * DAY_MS)));
    database.run("DELETE FROM _session WHERE expires_at < ?", now);
    database.run("DELETE FROM _grant WHERE expires_at < ?", now);
    await this.#removeJobs(now - JOB_DAYS * DAY_MS);
  }

  #emptyBin(before: Date): void {
    const { database, dml, identity, clock } = this.#parts;
    const roots = database
      .all("SELECT DISTINCT root FROM _bin WHERE deleted_at < ?", stampOf(before))
      .map((row) => String(row["root"]));
    if (roots.length === 0) return;
    database.transaction(() => dml.hardDelete(roots, ownSaving(identity.userId, clock.now())));
  }

  async #removeJobs(before: number): Promise<void> {
    const { query, ingest } = this.#parts.bulk;
    for (const kind of [query, ingest]) {
      for (const job of kind.jobs.all())
        if (isOver(job) && Date.parse(job.createdDate) < before) await kind.remove(job.id);
    }
  }
}
