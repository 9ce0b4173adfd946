import { normalizeId, recordId } from "../ids.ts";
import type { Parts } from "../parts.ts";
import { notFound, Refusal } from "../refusal.ts";
import { nextNumber } from "../store/settings.ts";
import type { IngestJob, QueryJob } from "./job.ts";

/** A job of Bulk API 1: what its batches have in common, and which they are. */
export interface FirstVersionJob {
  readonly id: string;
  readonly operation: string;
  readonly object: string;
  readonly externalIdFieldName: string;
  readonly userId: string;
  readonly apiVersion: number;
  readonly createdDate: string;
  readonly state: "Open" | "Closed" | "Aborted";
  /** The Bulk 2.0 jobs that do the work, in the order in which the batches came. */
  readonly batchJobIds: readonly string[];
}

/** Jobs of Bulk API 1, each batch run as a job of Bulk API 2.0. */
export class FirstVersionJobs {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  create(
    asked: Pick<FirstVersionJob, "operation" | "object" | "externalIdFieldName" | "userId" | "apiVersion">,
  ): FirstVersionJob {
    if (!this.#parts.catalog.find(asked.object))
      throw new Refusal("INVALIDENTITY", `InvalidEntity : Entity '${asked.object}' is not supported by the Bulk API.`);
    const id = recordId("750", nextNumber(this.#parts.database, "job"));
    const job: FirstVersionJob = {
      ...asked,
      id,
      createdDate: this.#parts.clock.now().toISOString(),
      state: "Open",
      batchJobIds: [],
    };
    this.#parts.database.run("INSERT INTO _job VALUES (?, 'first version', ?)", id, JSON.stringify(job));
    return job;
  }

  get(writtenId: string): FirstVersionJob {
    const row = this.#parts.database.first(
      "SELECT body FROM _job WHERE id = ? AND kind = 'first version'",
      normalizeId(writtenId) ?? "",
    );
    if (!row) throw notFound(`Invalid job id: ${writtenId}`);
    return JSON.parse(String(row["body"])) as FirstVersionJob;
  }

  setState(writtenId: string, state: string): FirstVersionJob {
    if (state !== "Closed" && state !== "Aborted") throw new Refusal("INVALIDJOBSTATE", `Invalid state: ${state}`);
    return this.#keep({ ...this.get(writtenId), state });
  }

  /** The rows (or the query) of one batch, started at once. */
  async addBatch(writtenId: string, body: Buffer): Promise<QueryJob | IngestJob> {
    const job = this.get(writtenId);
    if (job.state !== "Open") throw new Refusal("INVALIDJOBSTATE", `Job is not open: ${job.state}`);
    const batch = job.operation.startsWith("query") ? this.#queryBatch(job, body) : await this.#ingestBatch(job, body);
    this.#keep({ ...this.get(job.id), batchJobIds: [...this.get(job.id).batchJobIds, batch.id] });
    return batch;
  }

  batches(job: FirstVersionJob): (QueryJob | IngestJob)[] {
    return job.batchJobIds.map((id) => this.#batchJob(id));
  }

  /** The batch with this id, which is its job's id with another prefix. */
  batch(batchId: string): QueryJob | IngestJob {
    return this.#batchJob(normalizeId(batchId.slice(0, 15).replace(/^751/, "750")) ?? "");
  }

  #queryBatch(job: FirstVersionJob, body: Buffer): QueryJob {
    return this.#parts.bulk.query.create(
      { operation: job.operation, query: body.toString("utf8").trim() },
      job.userId,
      job.apiVersion,
    );
  }

  async #ingestBatch(job: FirstVersionJob, body: Buffer): Promise<IngestJob> {
    const { ingest } = this.#parts.bulk;
    if (body.toString("utf8").trim() === "") throw new Refusal("CLIENT_INPUT_ERROR", "The batch holds no rows");
    const key = job.externalIdFieldName === "" ? {} : { externalIdFieldName: job.externalIdFieldName };
    const batch = ingest.create({ operation: job.operation, object: job.object, ...key }, job.userId, job.apiVersion);
    await ingest.upload(batch.id, body);
    return ingest.setState(batch.id, "UploadComplete");
  }

  #batchJob(id: string): QueryJob | IngestJob {
    const kind = this.#parts.database.first("SELECT kind FROM _job WHERE id = ?", id)?.["kind"];
    return kind === "query" ? this.#parts.bulk.query.jobs.get(id) : this.#parts.bulk.ingest.jobs.get(id);
  }

  #keep(job: FirstVersionJob): FirstVersionJob {
    this.#parts.database.run("UPDATE _job SET body = ? WHERE id = ?", JSON.stringify(job), job.id);
    return job;
  }
}
