import type { Clock } from "../clock.ts";
import { normalizeId, recordId } from "../ids.ts";
import { notFound } from "../refusal.ts";
import type { Database } from "../store/database.ts";
import { nextNumber } from "../store/settings.ts";
import { type IngestJob, isOver, type Job, type QueryJob } from "./job.ts";

interface Kinds {
  readonly query: QueryJob;
  readonly ingest: IngestJob;
}

type Fresh<J extends Job> = Omit<
  J,
  | "id"
  | "createdDate"
  | "systemModstamp"
  | "concurrencyMode"
  | "numberRecordsProcessed"
  | "retries"
  | "totalProcessingTime"
>;

/** The jobs of one kind, each kept as one row. */
export class JobStore<Kind extends keyof Kinds> {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #kind: Kind;

  constructor({ database, clock }: { database: Database; clock: Clock }, kind: Kind) {
    this.#database = database;
    this.#clock = clock;
    this.#kind = kind;
  }

  add(fresh: Fresh<Kinds[Kind]>): Kinds[Kind] {
    const now = this.#now();
    const id = recordId("750", nextNumber(this.#database, "job"));
    const made = {
      id,
      createdDate: now,
      systemModstamp: now,
      concurrencyMode: "Parallel",
      numberRecordsProcessed: 0,
      retries: 0,
      totalProcessingTime: 0,
      ...fresh,
    };
    this.#database.run("INSERT INTO _job VALUES (?, ?, ?)", id, this.#kind, JSON.stringify(made));
    return made as unknown as Kinds[Kind];
  }

  /** The job with this id, or 404. */
  get(writtenId: string): Kinds[Kind] {
    const job = this.#find(writtenId);
    if (!job) throw notFound();
    return job;
  }

  /** Whether nothing more may happen to a job: it has ended, or was removed. */
  isOver(id: string): boolean {
    const job = this.#find(id);
    return !job || isOver(job);
  }

  all(): Kinds[Kind][] {
    return this.#database
      .all("SELECT body FROM _job WHERE kind = ? ORDER BY id", this.#kind)
      .map((row) => JSON.parse(String(row["body"])) as Kinds[Kind]);
  }

  /** The job with these changes, as it is kept from now on. */
  change(id: string, changes: Partial<Job> | Partial<Kinds[Kind]>): Kinds[Kind] {
    const changed = { ...this.get(id), ...changes, systemModstamp: this.#now() };
    this.#database.run("UPDATE _job SET body = ? WHERE id = ?", JSON.stringify(changed), id);
    return changed;
  }

  /**
   * Runs a job: it becomes InProgress, then JobComplete with what the work gives, or Failed with what it throws. Null
   * leaves it as it is, to be continued at the next start; a job that is over meanwhile stays so.
   */
  async workOff(id: string, work: (job: Kinds[Kind]) => Promise<Partial<Job> | null>): Promise<void> {
    if (this.isOver(id)) return;
    const startedAt = this.#clock.now().getTime();
    const end = (changes: Partial<Job>) => {
      if (!this.isOver(id)) this.change(id, changes);
    };
    try {
      const found = await work(this.change(id, { state: "InProgress" }));
      const totalProcessingTime = this.#clock.now().getTime() - startedAt;
      if (found) end({ ...found, state: "JobComplete", totalProcessingTime });
    } catch (error) {
      end({ state: "Failed", errorMessage: error instanceof Error ? error.message : String(error) });
    }
  }

  remove(id: string): void {
    this.#database.run("DELETE FROM _job WHERE id = ?", id);
    this.#database.run("DELETE FROM _job_row WHERE job = ?", id);
  }

  #find(writtenId: string): Kinds[Kind] | undefined {
    const sql = "SELECT body FROM _job WHERE id = ? AND kind = ?";
    const row = this.#database.first(sql, normalizeId(writtenId) ?? "", this.#kind);
    return row && (JSON.parse(String(row["body"])) as Kinds[Kind]);
  }

  #now(): string {
    return this.#clock.now().toISOString().replace("Z", "+0000");
  }
}
