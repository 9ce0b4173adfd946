import { SalesforceRefusal } from "../../../model/change/refusal.ts";
import type { Salesforce } from "../../../sync/ports/cycle-ports.ts";
import type { Client } from "../client.ts";
import { lookAtJob, openJob, piecesOf, streamCsv } from "./bulk-jobs.ts";

type BulkQueries = Pick<Salesforce, "startBulkQuery" | "bulkQueryRecords" | "bulkResults">;

/** Records of one part of the results: each part is one call, and is sent again whole when it breaks off. */
const PART_RECORDS = 50_000;

/**
 * Queries of the Bulk API 2.0 (Salesforce, Bulk API 2.0 query jobs), read at constant memory. jsforce's own client is not
 * used: it fails on more than one part, and never ends when a locator is missing.
 */
export function bulkQueries(client: Client): BulkQueries {
  return {
    // `queryAll`, because nothing else shows archived activities.
    startBulkQuery: async (soql) => {
      const { jobId, at } = await openJob(client, "query", { operation: "queryAll", query: soql });
      return { jobId, readAt: at };
    },

    bulkQueryRecords: async (jobId) => {
      const job = await lookAtJob(client, `/jobs/query/${jobId}`);
      const { state, errorMessage, numberRecordsProcessed: records = 0 } = job;
      if (state !== "Failed" && state !== "Aborted") return state === "JobComplete" ? records : null;
      // Whatever the reason was, this job will never have results: no kind that asks to try the same again.
      const message = errorMessage ?? `the job is ${state}`;
      const kind = message.includes("OPERATION_TOO_LARGE") ? "tooLarge" : "bug";
      throw new SalesforceRefusal({ kind, code: "BULK_QUERY_FAILED", message, mayHaveRun: false });
    },

    bulkResults: async (jobId, locator, records = PART_RECORDS) => {
      const place = locator === null ? "" : `&locator=${encodeURIComponent(locator)}`;
      const path = `/jobs/query/${jobId}/results?maxRecords=${records}${place}`;
      const { answer, headers } = await streamCsv(client, path);
      return { pieces: piecesOf(answer), next: await locatorIn(headers, answer) };
    },
  };
}

/** Where the next part begins; Salesforce says "null" behind the last one, so a missing header is no end. */
async function locatorIn(headers: Headers, results: ReadableStream | null): Promise<string | null> {
  const locator = headers.get("sforce-locator");
  if (locator !== null) return locator === "null" ? null : locator;
  await results?.cancel();
  const message =
    "results of a Bulk query came without the header Sforce-Locator, which alone says whether more follow; " +
    "if there is a proxy before the org, let it pass that header on";
  throw new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: false });
}
