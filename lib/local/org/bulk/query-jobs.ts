import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable } from "node:stream";
import type { PartsBeforeBulk } from "../parts-before-bulk.ts";
import { Refusal } from "../refusal.ts";
import { TOO_LARGE } from "../soql/soql-errors.ts";
import { textOf } from "../text-of.ts";
import { bulkPlan, exportFiles, exportRecords, headerOf, removeExport } from "./export.ts";
import { formatOf, isOver, type QueryJob } from "./job.ts";
import { JobStore } from "./job-store.ts";
import type { WorkQueue } from "./work-queue.ts";

/** A page of an export: CSV with its header row, and where the next page begins. */
export interface ResultPage {
  readonly csv: Readable;
  readonly bytes: number;
  readonly records: number;
  readonly next: number | null;
}

/** Bulk 2.0 query jobs: created, worked off behind the requests, their results kept as files (salesforce-facts 6.1). */
export class QueryJobs {
  readonly #parts: PartsBeforeBulk;
  readonly #folder: string;
  readonly #work: WorkQueue;
  readonly jobs: JobStore<"query">;

  constructor(parts: PartsBeforeBulk, folder: string, work: WorkQueue) {
    this.#parts = parts;
    this.#folder = folder;
    this.#work = work;
    this.jobs = new JobStore(parts, "query");
    for (const job of this.jobs.all()) if (!isOver(job)) this.#work.add(() => this.#run(job.id));
  }

  create(body: Readonly<Record<string, unknown>>, userId: string, apiVersion: number): QueryJob {
    const operation = textOf(body["operation"] ?? "");
    if (operation !== "query" && operation !== "queryAll")
      throw new Refusal("INVALIDJOB", `Unsupported operation: ${operation}`);
    const query = textOf(body["query"] ?? "");
    const plan = bulkPlan(this.#parts.queries, { query, operation });
    const job = this.jobs.add({
      operation,
      query,
      object: plan.object.name,
      createdById: userId,
      state: "UploadComplete",
      apiVersion,
      ...formatOf(body),
    });
    this.#work.add(() => this.#run(job.id));
    return job;
  }

  abort(id: string): QueryJob {
    const job = this.jobs.get(id);
    if (isOver(job)) throw new Refusal("INVALIDJOBSTATE", `Job Id ${id} is already ${job.state}`);
    return this.jobs.change(job.id, { state: "Aborted" });
  }

  async remove(id: string): Promise<void> {
    const job = this.jobs.get(id);
    if (!isOver(job)) throw new Refusal("INVALIDJOBSTATE", `Job Id ${id} is still ${job.state}: abort it first`);
    this.jobs.remove(job.id);
    await removeExport(this.#folder, job.id);
  }

  /** The records from `from`, at most `maxRecords` of them. */
  async page(job: QueryJob, from: number, maxRecords: number): Promise<ResultPage> {
    const total = job.numberRecordsProcessed;
    if (from > total || from < 0) throw new Refusal("INVALID_QUERY_LOCATOR", "invalid query locator");
    const until = Math.min(total, from + maxRecords);
    const header = headerOf(bulkPlan(this.#parts.queries, job), job);
    const files = exportFiles(this.#folder, job.id);
    const { start, end } = await span(files, from, until, total);
    const lines =
      end > start ? createReadStream(files.lines, { start, end: end - 1, highWaterMark: 1 << 20 }) : Readable.from([]);
    return {
      csv: withHeader(header, lines),
      bytes: Buffer.byteLength(header) + end - start,
      records: until - from,
      next: until < total ? until : null,
    };
  }

  #run(id: string): Promise<void> {
    return this.jobs.workOff(id, async (job) => {
      const { faults } = this.#parts;
      const occasion = { request: `BULK ${job.operation}`, object: job.object };
      const broken = faults.on("failedJob", occasion);
      if (broken) throw new Refusal("API_ERROR", broken.message ?? "InternalServerError : this job failed on demand");
      if (faults.on("abortedJob", occasion)) {
        this.abort(id);
        return null;
      }
      const isStopped = () => this.#work.isStopped || this.jobs.isOver(id);
      const records = await exportRecords({ ...this.#parts, folder: this.#folder, isStopped }, job);
      if (records !== null && faults.on("largeOperation", { ...occasion, size: records }))
        throw new Refusal("API_ERROR", `OPERATION_TOO_LARGE: ${TOO_LARGE}`);
      return records === null ? null : { numberRecordsProcessed: records };
    });
  }
}

/** The bytes of the lines `from` up to `until`. */
async function span(
  files: { lines: string; offsets: string },
  from: number,
  until: number,
  total: number,
): Promise<{ start: number; end: number }> {
  if (total === 0) return { start: 0, end: 0 };
  const [offsets, lines] = await Promise.all([open(files.offsets), open(files.lines)]);
  try {
    const at = async (record: number) =>
      record >= total
        ? (await lines.stat()).size
        : (await offsets.read(Buffer.alloc(8), 0, 8, record * 8)).buffer.readDoubleLE();
    return { start: await at(from), end: await at(until) };
  } finally {
    await Promise.all([offsets.close(), lines.close()]);
  }
}

function withHeader(header: string, lines: Readable): Readable {
  const all = async function* () {
    yield Buffer.from(header);
    yield* lines;
  };
  return Readable.from(all(), { objectMode: false });
}
