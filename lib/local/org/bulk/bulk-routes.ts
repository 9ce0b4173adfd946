import { emptyReply, type Reply } from "../http/call.ts";
import { Refusal } from "../refusal.ts";
import { jsonObject, noContent, ok, param, type RestCall, type RestReply, type Route } from "../rest-call.ts";
import type { ResultKind } from "./ingest-jobs.ts";
import type { IngestJob, QueryJob } from "./job.ts";
import { multipartOf } from "./multipart.ts";

const DEFAULT_PAGE_RECORDS = 50_000;

/** Bulk API 2.0 below `/services/data/vXX.X` (salesforce-facts 6). */
export const BULK_ROUTES: readonly Route[] = [
  [
    "jobs/query",
    {
      GET: (call) =>
        ok({ done: true, records: call.parts.bulk.query.jobs.all().map(queryAnswer), nextRecordsUrl: null }),
      POST: createQuery,
    },
  ],
  [
    "jobs/query/:id",
    {
      GET: (call) => ok(queryAnswer(call.parts.bulk.query.jobs.get(param(call, "id")))),
      PATCH: abortQuery,
      DELETE: removeQuery,
    },
  ],
  ["jobs/query/:id/results", { GET: queryResults }],
  ["jobs/query/:id/resultPages", { GET: resultPages }],
  [
    "jobs/ingest",
    {
      GET: (call) =>
        ok({ done: true, records: call.parts.bulk.ingest.jobs.all().map(ingestAnswer), nextRecordsUrl: null }),
      POST: createIngest,
    },
  ],
  [
    "jobs/ingest/:id",
    {
      GET: (call) => ok(ingestAnswer(call.parts.bulk.ingest.jobs.get(param(call, "id")))),
      PATCH: setIngestState,
      DELETE: removeIngest,
    },
  ],
  ["jobs/ingest/:id/batches", { PUT: upload }],
  ["jobs/ingest/:id/successfulResults", { GET: (call) => ingestResults(call, "successful") }],
  ["jobs/ingest/:id/failedResults", { GET: (call) => ingestResults(call, "failed") }],
  ["jobs/ingest/:id/unprocessedrecords", { GET: (call) => ingestResults(call, "unprocessed") }],
];

function createQuery(call: RestCall): RestReply {
  // The job itself reads as the org; what its user may not see is refused here.
  const { query } = jsonObject(call);
  if (typeof query === "string") call.parts.queries.plan(query, true);
  const job = call.parts.bulk.query.create(jsonObject(call), call.session.userId, Number(call.version));
  const { numberRecordsProcessed: _, retries: __, totalProcessingTime: ___, ...answer } = job;
  return ok(answer);
}

/** A job as GET shows it; on the wire its counters come with its type. */
function queryAnswer(job: QueryJob) {
  return { ...job, jobType: "V2Query", isPkChunkingSupported: true };
}

function abortQuery(call: RestCall): RestReply {
  if (jsonObject(call)["state"] !== "Aborted")
    throw new Refusal("INVALIDJOBSTATE", "a query job can only be set to Aborted");
  return ok(queryAnswer(call.parts.bulk.query.abort(param(call, "id"))));
}

async function removeQuery(call: RestCall): Promise<RestReply> {
  await call.parts.bulk.query.remove(param(call, "id"));
  return noContent;
}

async function queryResults(call: RestCall): Promise<RestReply> {
  const job = finished(call);
  const from = positionOf(call.query.get("locator"));
  const asked = Number(call.query.get("maxRecords") ?? DEFAULT_PAGE_RECORDS);
  if (!Number.isInteger(asked) || asked < 1)
    throw new Refusal("INVALID_INPUT", `maxRecords is not a positive number: ${String(call.query.get("maxRecords"))}`);
  const small = call.parts.faults.on("smallBatches", { request: call.name });
  const page = await call.parts.bulk.query.page(job, from, small ? small.size : asked);
  const isMissing = call.parts.faults.on("missingLocator", { request: call.name }) !== null;
  const headers = {
    "Content-Type": "text/csv",
    "Content-Length": String(page.bytes),
    ...(isMissing ? {} : { "Sforce-Locator": page.next === null ? "null" : locatorOf(page.next) }),
    "Sforce-NumberOfRecords": String(page.records),
  };
  return { reply: { status: 200, headers, body: page.csv } };
}

/** The locators of all pages, for readers that fetch several at once. */
function resultPages(call: RestCall): RestReply {
  const job = finished(call);
  const pages = Math.max(1, Math.ceil(job.numberRecordsProcessed / DEFAULT_PAGE_RECORDS));
  const link = (page: number) =>
    `${call.base}/jobs/query/${job.id}/results${page === 0 ? "" : `?locator=${locatorOf(page * DEFAULT_PAGE_RECORDS)}`}`;
  return ok({
    resultPages: Array.from({ length: pages }, (_, page) => ({ resultUrl: link(page) })),
    nextRecordsUrl: null,
    done: true,
  });
}

/** The job of a result request: complete, and made with the same API version. */
function finished(call: RestCall): QueryJob {
  const job = call.parts.bulk.query.jobs.get(param(call, "id"));
  if (job.apiVersion !== Number(call.version)) {
    throw new Refusal(
      "API_ERROR",
      `Job ${job.id} was created with API version ${job.apiVersion.toFixed(1)}: ask for its results with the same version`,
      { status: 409 },
    );
  }
  if (job.state !== "JobComplete")
    throw new Refusal(
      "INVALIDJOBSTATE",
      `Invalid job state: ${job.state}. The results are there when it is JobComplete.`,
    );
  return job;
}

/** A locator is the number of the next record, in base 64: `MTAwMDA` is 10000. */
function locatorOf(position: number): string {
  return Buffer.from(String(position)).toString("base64url");
}

function positionOf(locator: string | null): number {
  if (locator === null) return 0;
  const text = Buffer.from(locator, "base64url").toString("utf8");
  if (!/^\d+$/.test(text)) throw new Refusal("INVALID_QUERY_LOCATOR", "invalid query locator");
  return Number(text);
}

async function createIngest(call: RestCall): Promise<RestReply> {
  const { ingest } = call.parts.bulk;
  const multipart = multipartOf(call);
  const job = ingest.create(multipart ? multipart.job : jsonObject(call), call.session.userId, Number(call.version));
  if (!multipart) return ok({ ...ingestAnswer(job), contentUrl: contentUrl(job) });
  await ingest.upload(job.id, multipart.content);
  return ok(ingestAnswer(ingest.setState(job.id, "UploadComplete")));
}

function contentUrl(job: IngestJob): string {
  return `services/data/v${job.apiVersion.toFixed(1)}/jobs/ingest/${job.id}/batches`;
}

function ingestAnswer({ hasContent: _, ...job }: IngestJob) {
  const times = { apiActiveProcessingTime: job.totalProcessingTime, apexProcessingTime: 0 };
  return {
    ...job,
    jobType: "V2Ingest",
    ...(job.state === "Open" ? { contentUrl: contentUrl({ ...job, hasContent: false }) } : {}),
    ...times,
  };
}

function setIngestState(call: RestCall): RestReply {
  return ok(ingestAnswer(call.parts.bulk.ingest.setState(param(call, "id"), jsonObject(call)["state"])));
}

async function removeIngest(call: RestCall): Promise<RestReply> {
  await call.parts.bulk.ingest.remove(param(call, "id"));
  return noContent;
}

async function upload(call: RestCall): Promise<RestReply> {
  await call.parts.bulk.ingest.upload(param(call, "id"), "bytes" in call.body ? call.body.bytes : Buffer.alloc(0));
  const reply: Reply = emptyReply(201);
  return { reply };
}

function ingestResults(call: RestCall, kind: ResultKind): RestReply {
  const job = call.parts.bulk.ingest.jobs.get(param(call, "id"));
  return {
    reply: { status: 200, headers: { "Content-Type": "text/csv" }, body: call.parts.bulk.ingest.results(job, kind) },
  };
}
