import { existsSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { PartsBeforeBulk } from "../parts-before-bulk.ts";
import { Refusal } from "../refusal.ts";
import { textOf } from "../text-of.ts";
import { importRecords, linesOf } from "./import.ts";
import { csvLine, delimiterOf, formatOf, type IngestJob, isOver, lineEndOf } from "./job.ts";
import { JobStore } from "./job-store.ts";
import type { WorkQueue } from "./work-queue.ts";

const OPERATIONS = ["insert", "update", "upsert", "delete", "hardDelete"];
const PAGE_ROWS = 2000;

/** Which of a job's rows a result file holds. */
export type ResultKind = "successful" | "failed" | "unprocessed";

/** Bulk 2.0 ingest jobs: created, uploaded once, worked off behind the requests (salesforce-facts 6.2). */
export class IngestJobs {
  readonly #parts: PartsBeforeBulk;
  readonly #folder: string;
  readonly #work: WorkQueue;
  readonly jobs: JobStore<"ingest">;

  constructor(parts: PartsBeforeBulk, folder: string, work: WorkQueue) {
    this.#parts = parts;
    this.#folder = folder;
    this.#work = work;
    this.jobs = new JobStore(parts, "ingest");
    for (const job of this.jobs.all())
      if (!isOver(job) && job.state !== "Open") this.#work.add(() => this.#run(job.id));
  }

  create(body: Readonly<Record<string, unknown>>, userId: string, apiVersion: number): IngestJob {
    const operation = textOf(body["operation"] ?? "");
    if (!OPERATIONS.includes(operation)) throw new Refusal("INVALIDJOB", `Unsupported operation: ${operation}`);
    const object = this.#parts.catalog.find(textOf(body["object"] ?? ""));
    if (!object) throw new Refusal("INVALIDENTITY", `Unable to find object: ${textOf(body["object"] ?? "")}`);
    const key = body["externalIdFieldName"];
    if (operation === "upsert" && !object.field(String(key ?? ""))?.idLookup) {
      throw new Refusal(
        "INVALIDJOB",
        `InvalidBatch : Field name provided, ${String(key ?? "")} does not match an External ID, Salesforce Id, or indexed field for ${object.name}`,
      );
    }
    const named = key === undefined ? {} : { externalIdFieldName: String(key) };
    return this.jobs.add({
      operation,
      object: object.name,
      createdById: userId,
      state: "Open",
      apiVersion,
      numberRecordsFailed: 0,
      hasContent: false,
      ...named,
      ...formatOf(body),
    });
  }

  /** Keeps the upload; a job takes one. */
  async upload(id: string, csv: Buffer): Promise<void> {
    const job = this.jobs.get(id);
    if (job.state !== "Open") throw new Refusal("INVALIDJOBSTATE", `Job Id ${id} is not open: it is ${job.state}`);
    if (job.hasContent)
      throw new Refusal(
        "INVALIDJOB",
        `Found multiple contents for job: <${id}>, please 'Close' / 'Abort' / 'Delete' the current Job then create a new Job and make sure you only do 'PUT' once on a given Job.`,
      );
    await writeFile(`${this.#file(job)}.part`, csv);
    await rename(`${this.#file(job)}.part`, this.#file(job));
    this.jobs.change(job.id, { hasContent: true });
  }

  /** `UploadComplete` starts the job, `Aborted` ends it. */
  setState(id: string, state: unknown): IngestJob {
    const job = this.jobs.get(id);
    const isAllowed = state === "Aborted" ? !isOver(job) : state === "UploadComplete" && job.state === "Open";
    if (!isAllowed)
      throw new Refusal("INVALIDJOBSTATE", `Cannot set the state of job ${id} from ${job.state} to ${String(state)}`);
    const changed = this.jobs.change(job.id, { state: state === "Aborted" ? "Aborted" : "UploadComplete" });
    if (changed.state === "UploadComplete") this.#work.add(() => this.#run(job.id));
    return changed;
  }

  async remove(id: string): Promise<void> {
    const job = this.jobs.get(id);
    if (!isOver(job)) throw new Refusal("INVALIDJOBSTATE", `Job Id ${id} is still ${job.state}: abort it first`);
    this.jobs.remove(job.id);
    await rm(this.#file(job), { force: true });
  }

  /** A result file, as it is read. */
  results(job: IngestJob, kind: ResultKind): Readable {
    return Readable.from(kind === "unprocessed" ? this.#unprocessed(job) : this.#processed(job, kind), {
      objectMode: false,
    });
  }

  /** Backwards, because the order of the upload is not guaranteed (salesforce-facts 6.2). */
  async *#processed(job: IngestJob, kind: "successful" | "failed"): AsyncGenerator<string> {
    const [delimiter, end] = [delimiterOf(job), lineEndOf(job)];
    const header = [
      csvLine(["sf__Id", kind === "failed" ? "sf__Error" : "sf__Created"], delimiter),
      await this.#header(job),
    ];
    yield header.filter((part) => part !== "").join(delimiter) + end;
    const sql = `SELECT position, id, created, error, line FROM _job_row WHERE job = ? AND position < ? AND error IS ${kind === "failed" ? "NOT " : ""}NULL ORDER BY position DESC LIMIT ${PAGE_ROWS}`;
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const rows = this.#parts.database.tuples(sql, [job.id, before]);
      const last = rows[rows.length - 1];
      if (!last) return;
      before = Number(last[0]);
      yield rows
        .map(
          ([, id, created, error, line]) =>
            csvLine([String(id ?? ""), kind === "failed" ? String(error) : String(created === 1)], delimiter) +
            delimiter +
            String(line) +
            end,
        )
        .join("");
    }
  }

  async *#unprocessed(job: IngestJob): AsyncGenerator<string> {
    if (!existsSync(this.#file(job))) return;
    let at = -1;
    for await (const line of linesOf(this.#file(job), job)) {
      if (at === -1 || at >= job.numberRecordsProcessed) yield csvLine(line, delimiterOf(job)) + lineEndOf(job);
      at++;
    }
  }

  /** The upload's own header row, quoted. */
  async #header(job: IngestJob): Promise<string> {
    if (!existsSync(this.#file(job))) return "";
    for await (const line of linesOf(this.#file(job), job)) return csvLine(line, delimiterOf(job));
    return "";
  }

  #file(job: IngestJob): string {
    return join(this.#folder, `${job.id}.upload`);
  }

  #run(id: string): Promise<void> {
    return this.jobs.workOff(id, async (job) => {
      const broken = this.#parts.faults.on("failedJob", { request: `BULK ${job.operation}`, object: job.object });
      if (broken) throw new Refusal("API_ERROR", broken.message ?? "InternalServerError : this job failed on demand");
      if (!job.hasContent) return {};
      const isStopped = () => this.#work.isStopped || this.jobs.isOver(id);
      const progress = (numberRecordsProcessed: number, numberRecordsFailed: number) =>
        this.jobs.change(id, { numberRecordsProcessed, numberRecordsFailed });
      const isDone = await importRecords({ parts: this.#parts, isStopped, progress }, job, this.#file(job));
      return isDone ? {} : null;
    });
  }
}
