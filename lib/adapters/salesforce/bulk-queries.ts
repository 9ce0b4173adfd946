import * as z from "zod/mini";
import { SalesforceRefusal } from "../../model/refusal.ts";
import type { BulkPart, Salesforce } from "../../sync/ports.ts";
import type { Call } from "./connect-org.ts";
import { csvLines } from "./csv-lines.ts";
import { lost } from "./lost-request.ts";
import { understand } from "./understand.ts";

type BulkQueries = Pick<Salesforce, "startBulkQuery" | "isBulkQueryDone" | "bulkResults">;

/** Records of one part of the results: each part is one call, and is read again whole when it breaks off. */
const PART_RECORDS = 10_000;

/** Sends a GET whose answer is read as it arrives. */
export type Stream = (path: string) => Promise<Response>;

/**
 * Queries of the Bulk API 2.0 (Salesforce, Bulk API 2.0 query jobs), read at constant memory. jsforce's own client is not
 * used: it fails on more than one part, and never ends when a locator is missing.
 */
export function bulkQueries(call: Call, stream: Stream): BulkQueries {
  return {
    startBulkQuery: async (soql) => {
      const body = JSON.stringify({ operation: "query", query: soql });
      const headers = { "content-type": "application/json" };
      const { answer, at } = await call((connection) =>
        connection.request({ method: "POST", url: "/jobs/query", headers, body }),
      );
      return { jobId: understand(job, answer, "making a job of the Bulk API").id, readAt: at };
    },

    isBulkQueryDone: async (jobId) => {
      const { answer } = await call((connection) => connection.request({ method: "GET", url: `/jobs/query/${jobId}` }));
      const { state, errorMessage } = understand(job, answer, "a look at a job of the Bulk API");
      if (state !== "Failed" && state !== "Aborted") return state === "JobComplete";
      // Whatever the reason was, this job will never have results: no kind that asks to try the same again.
      const message = errorMessage ?? `the job is ${state}`;
      throw new SalesforceRefusal({ kind: "bug", code: "BULK_QUERY_FAILED", message, mayHaveRun: false });
    },

    bulkResults: async (jobId, locator) => {
      const place = locator === null ? "" : `&locator=${encodeURIComponent(locator)}`;
      const response = await stream(`/jobs/query/${jobId}/results?maxRecords=${PART_RECORDS}${place}`);
      return { pieces: piecesOf(response), next: await locatorIn(response) };
    },
  };
}

/** Where the next part begins; Salesforce says "null" behind the last one, so that nobody takes silence for the end. */
async function locatorIn({ headers, body }: Response): Promise<string | null> {
  const locator = headers.get("sforce-locator");
  if (locator !== null) return locator === "null" ? null : locator;
  await body?.cancel();
  const message =
    "results of a Bulk query came without the header Sforce-Locator, which alone tells whether more follow; " +
    "if a proxy stands before the org, let it pass that header on";
  throw new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: false });
}

const job = z.object({ id: z.string(), state: z.string(), errorMessage: z.optional(z.nullable(z.string())) });

/** A file of CSV as it arrives, by its first line's names; every part of a query's results repeats that line. */
export async function* piecesOf({ body }: Response): BulkPart["pieces"] {
  if (body === null) return;
  try {
    yield* csvLines(body.pipeThrough(new TextDecoderStream()));
  } catch (error) {
    throw lost(error);
  }
}
