import { Readable } from "node:stream";
import type { Session } from "../access/sessions.ts";
import type { Call, Reply } from "../http/call.ts";
import type { Parts } from "../parts.ts";
import { notFound, Refusal } from "../refusal.ts";
import { child, escaped, parseXml, textOf } from "../soap/xml.ts";
import { type FirstVersionJob, FirstVersionJobs } from "./first-version-jobs.ts";
import { csvLine, type IngestJob, type Job, type QueryJob } from "./job.ts";

const NAMESPACE = 'xmlns="http://www.force.com/2009/06/asyncapi/dataload"';
const RESULT_RECORDS = 1_000_000_000;

interface Asked {
  readonly parts: Parts;
  readonly jobs: FirstVersionJobs;
  readonly call: Call;
  readonly session: Session;
  /** The segments after `job`: job id, `batch`, batch id, `result`, result id. */
  readonly jobId: string;
  readonly batchId: string;
  readonly apiVersion: number;
}

/** Bulk API 1, for clients that still speak it: XML jobs whose CSV batches run as jobs of Bulk API 2.0 (salesforce-facts 6.3). */
export async function answerFirstVersion(parts: Parts, call: Call, admit: (token: string) => Session): Promise<Reply> {
  try {
    const session = admit(String(call.headers["x-sfdc-session"] ?? ""));
    const [, version = "", jobId = "", batchId = "", resultId] =
      /^\/services\/async\/([\d.]+)\/job(?:\/(\w+)(?:\/batch(?:\/(\w+)(?:\/result(?:\/(\w+))?)?)?)?)?$/.exec(
        call.path,
      ) ?? [];
    const asked: Asked = {
      parts,
      jobs: new FirstVersionJobs(parts),
      call,
      session,
      jobId,
      batchId,
      apiVersion: Number(version),
    };
    const handler = HANDLERS[`${call.method} ${shapeOf(call.path)}`];
    if (!handler || version === "") throw notFound();
    return await handler(asked, resultId ?? "");
  } catch (error) {
    return errorReply(error);
  }
}

/** `job/750…/batch/751…/result` as `job/x/batch/x/result`. */
function shapeOf(path: string): string {
  return path.replace(/^\/services\/async\/[\d.]+\//, "").replace(/(job|batch|result)\/\w+/g, "$1/x");
}

const HANDLERS: Readonly<Record<string, (asked: Asked, resultId: string) => Reply | Promise<Reply>>> = {
  "POST job": ({ jobs, call, session, apiVersion }) => {
    const info = child(parseXml(call.body.toString("utf8").trim()), "jobInfo");
    const text = (name: string) => textOf(child(info, name)).trim();
    const job = jobs.create({
      operation: text("operation"),
      object: text("object"),
      externalIdFieldName: text("externalIdFieldName"),
      userId: session.userId,
      apiVersion,
    });
    return xml(201, jobXml(job, jobs.batches(job)));
  },
  "GET job/x": ({ jobs, jobId }) => {
    const job = jobs.get(jobId);
    return xml(200, jobXml(job, jobs.batches(job)));
  },
  "POST job/x": ({ jobs, call, jobId }) => {
    const state = textOf(child(child(parseXml(call.body.toString("utf8").trim()), "jobInfo"), "state")).trim();
    const job = jobs.setState(jobId, state);
    return xml(200, jobXml(job, jobs.batches(job)));
  },
  "POST job/x/batch": async ({ jobs, call, jobId }) => xml(201, batchXml(jobId, await jobs.addBatch(jobId, call.body))),
  "GET job/x/batch": ({ jobs, jobId }) => {
    const batches = jobs.batches(jobs.get(jobId)).map((batch) => batchXml(jobId, batch, ""));
    return xml(200, `<batchInfoList ${NAMESPACE}>${batches.join("")}</batchInfoList>`);
  },
  "GET job/x/batch/x": ({ jobs, jobId, batchId }) => xml(200, batchXml(jobId, jobs.batch(batchId))),
  "GET job/x/batch/x/result": ({ parts, jobs, batchId }) => {
    const batch = jobs.batch(batchId);
    if ("query" in batch)
      return xml(200, `<result-list ${NAMESPACE}><result>${batch.id.replace(/^750/, "752")}</result></result-list>`);
    return {
      status: 200,
      headers: { "Content-Type": "text/csv" },
      body: Readable.from(resultLines(parts, batch), { objectMode: false }),
    };
  },
  "GET job/x/batch/x/result/x": async ({ parts, jobs, batchId }) => {
    const batch = jobs.batch(batchId);
    if (!("query" in batch)) throw notFound();
    const page = await parts.bulk.query.page(batch, 0, RESULT_RECORDS);
    return { status: 200, headers: { "Content-Type": "text/csv" }, body: page.csv };
  },
};

/** The outcome of each row of a batch, in the order of the upload. */
function* resultLines({ database }: Parts, batch: Job): Generator<string> {
  yield '"Id","Success","Created","Error"\n';
  const rows = database.tuples("SELECT id, created, error FROM _job_row WHERE job = ? ORDER BY position", [batch.id]);
  for (const [id, created, error] of rows) {
    const isSuccess = error === null;
    yield `${csvLine([String(id ?? ""), String(isSuccess), String(isSuccess && created === 1), String(error ?? "")], ",")}\n`;
  }
}

function xml(status: number, body: string): Reply {
  return {
    status,
    headers: { "Content-Type": "application/xml" },
    body: `<?xml version="1.0" encoding="UTF-8"?>${body}`,
  };
}

const CODES: Readonly<Record<string, string>> = {
  INVALID_SESSION_ID: "InvalidSessionId",
  REQUEST_LIMIT_EXCEEDED: "ExceededQuota",
  NOT_FOUND: "InvalidJob",
  CLIENT_INPUT_ERROR: "ClientInputError",
};

function errorReply(error: unknown): Reply {
  if (!(error instanceof Refusal)) throw error;
  const code = CODES[error.code] ?? "InvalidBatch";
  const message = code === "InvalidSessionId" ? "Invalid session id" : error.message;
  return xml(
    400,
    `<error ${NAMESPACE}><exceptionCode>${code}</exceptionCode><exceptionMessage>${escaped(message)}</exceptionMessage></error>`,
  );
}

function element(name: string, value: string | number): string {
  return `<${name}>${typeof value === "string" ? escaped(value) : value}</${name}>`;
}

function jobXml(job: FirstVersionJob, batches: readonly (QueryJob | IngestJob)[]): string {
  const count = (...states: string[]) => batches.filter((batch) => states.includes(stateOf(batch))).length;
  return `<jobInfo ${NAMESPACE}>${[
    element("id", job.id),
    element("operation", job.operation),
    element("object", job.object),
    element("createdById", job.userId),
    element("createdDate", job.createdDate),
    element("systemModstamp", job.createdDate),
    element("state", job.state),
    ...(job.externalIdFieldName === "" ? [] : [element("externalIdFieldName", job.externalIdFieldName)]),
    element("concurrencyMode", "Parallel"),
    element("contentType", "CSV"),
    element("numberBatchesQueued", count("Queued")),
    element("numberBatchesInProgress", count("InProgress")),
    element("numberBatchesCompleted", count("Completed")),
    element("numberBatchesFailed", count("Failed")),
    element("numberBatchesTotal", batches.length),
    element(
      "numberRecordsProcessed",
      batches.reduce((sum, batch) => sum + batch.numberRecordsProcessed, 0),
    ),
    element("numberRetries", 0),
    element("apiVersion", job.apiVersion.toFixed(1)),
  ].join("")}</jobInfo>`;
}

const STATES: Readonly<Record<string, string>> = {
  Open: "Queued",
  UploadComplete: "Queued",
  InProgress: "InProgress",
  JobComplete: "Completed",
  Failed: "Failed",
  Aborted: "NotProcessed",
};

/** A batch without a single row has failed, in this version. */
function stateOf(batch: QueryJob | IngestJob): string {
  const isEmpty = batch.state === "JobComplete" && !("query" in batch) && batch.numberRecordsProcessed === 0;
  return isEmpty ? "Failed" : (STATES[batch.state] ?? "Queued");
}

function batchXml(jobId: string, batch: QueryJob | IngestJob, namespace = ` ${NAMESPACE}`): string {
  const state = stateOf(batch);
  const message = batch.errorMessage ?? "InvalidBatch : Records not processed: the batch holds no rows";
  return `<batchInfo${namespace}>${[
    element("id", batch.id.replace(/^750/, "751")),
    element("jobId", jobId),
    element("state", state),
    ...(state === "Failed" ? [element("stateMessage", message)] : []),
    element("createdDate", batch.createdDate),
    element("systemModstamp", batch.systemModstamp),
    element("numberRecordsProcessed", batch.numberRecordsProcessed),
    element("numberRecordsFailed", "query" in batch ? 0 : batch.numberRecordsFailed),
    element("totalProcessingTime", batch.totalProcessingTime),
    element("apiActiveProcessingTime", 0),
    element("apexProcessingTime", 0),
  ].join("")}</batchInfo>`;
}
