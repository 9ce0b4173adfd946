import * as z from "zod/mini";
import type { CsvLine } from "../../model/csv-line.ts";
import type { Operation, OutgoingRecord } from "../../model/record.ts";
import { SalesforceRefusal } from "../../model/refusal.ts";
import { CLEARS, FIRST_JOB_RECORDS, headerOf } from "../../model/ways.ts";
import type { BulkSave, BulkSaves, SavedKind } from "../../sync/ports.ts";
import { piecesOf, type Stream } from "./bulk-queries.ts";
import type { Call } from "./connect-org.ts";
import { understand } from "./understand.ts";

/** Sends a PUT of text as its lines are made; `lines` is asked again when a session has ended. */
export type Upload = (path: string, lines: () => Iterable<string>) => Promise<void>;

const JSON_HEADERS = { "content-type": "application/json" };

/**
 * Jobs of the Bulk API 2.0 that save records (Salesforce, Bulk API 2.0 ingest), read and written at constant memory.
 * jsforce's own client is not used: it takes the columns from the first record, guesses the delimiter of the results, and
 * deletes a job that it has waited for too long.
 */
export function bulkSaves(call: Call, stream: Stream, upload: Upload): BulkSaves {
  const setState = (jobId: string, state: string) =>
    call((connection) =>
      connection.request({
        method: "PATCH",
        url: pathOf(jobId),
        headers: JSON_HEADERS,
        body: JSON.stringify({ state }),
      }),
    );
  return {
    openBulkSave: async (operation, object, externalIdField) => {
      const asked = {
        object,
        operation: NAMES[operation],
        contentType: "CSV",
        lineEnding: "LF",
        columnDelimiter: "COMMA",
      };
      const key = operation === "upsert" && externalIdField !== null ? { externalIdFieldName: externalIdField } : {};
      const body = JSON.stringify({ ...asked, ...key });
      const { answer } = await call((connection) =>
        connection.request({ method: "POST", url: "/jobs/ingest", headers: JSON_HEADERS, body }),
      );
      return understand(job, answer, "making a job of the Bulk API").id;
    },
    uploadBulkSave: (jobId, records) => upload(`${pathOf(jobId)}/batches`, () => linesOf(records)),
    startBulkSave: async (jobId) => {
      await setState(jobId, "UploadComplete");
    },
    abortBulkSave: async (jobId) => {
      await setState(jobId, "Aborted");
    },
    lookAtBulkSave: (jobId) => look(call, jobId),
    bulkSaved: async (jobId, kind) => batchesOf(await stream(`${pathOf(jobId)}/${FILES[kind]}`)),
  };
}

const pathOf = (jobId: string) => `/jobs/ingest/${jobId}`;

const NAMES: Readonly<Record<Operation, string>> = {
  create: "insert",
  update: "update",
  upsert: "upsert",
  delete: "delete",
  undelete: "undelete",
};

const FILES: Readonly<Record<SavedKind, string>> = {
  successful: "successfulResults",
  failed: "failedResults",
  unprocessed: "unprocessedrecords",
};

const job = z.object({
  id: z.string(),
  state: z.string(),
  errorMessage: z.optional(z.nullable(z.string())),
  numberRecordsProcessed: z.optional(z.number()),
  numberRecordsFailed: z.optional(z.number()),
});

const STATES: Readonly<Record<string, BulkSave["state"]>> = {
  Open: "open",
  JobComplete: "complete",
  Failed: "failed",
  Aborted: "aborted",
};

async function look(call: Call, jobId: string): Promise<BulkSave> {
  try {
    const { answer, at } = await call((connection) => connection.request({ method: "GET", url: pathOf(jobId) }));
    const {
      state,
      errorMessage,
      numberRecordsProcessed = 0,
      numberRecordsFailed = 0,
    } = understand(job, answer, "a look at a job of the Bulk API");
    const counts = { processed: numberRecordsProcessed, failed: numberRecordsFailed };
    return { state: STATES[state] ?? "working", ...counts, message: errorMessage ?? "", at };
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || error.refusal.code !== "NOT_FOUND") throw error;
    // Salesforce forgets a job after seven days.
    return { state: "gone", processed: 0, failed: 0, message: error.message, at: new Date(Number.NaN) };
  }
}

/** The upload: a line of names, then each record in their order; null clears, and every value is in quotes. */
function* linesOf(records: readonly OutgoingRecord[]): Generator<string> {
  const [first] = records;
  if (!first) return;
  const header = headerOf(first);
  yield lineOf(header);
  for (const record of records) yield lineOf(header.map((name) => cellOf(record, name) ?? CLEARS));
}

function cellOf({ id, values, parents = [] }: OutgoingRecord, name: string): string | null | undefined {
  if (name === "Id") return id;
  if (name in values) return values[name];
  return parents.find(({ relationship, field }) => `${relationship}.${field}` === name)?.value;
}

const lineOf = (cells: readonly string[]) => `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",")}\n`;

/** Records settled together, at least, as long as there are as many: those of a small job at once. */
const BATCH_RECORDS = FIRST_JOB_RECORDS;

async function* batchesOf(response: Response): AsyncGenerator<CsvLine[]> {
  let batch: CsvLine[] = [];
  for await (const { lines } of piecesOf(response)) {
    for (const line of lines) batch.push(line);
    if (batch.length < BATCH_RECORDS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
