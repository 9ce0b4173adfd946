import { SalesforceRefusal } from "../../../model/change/refusal.ts";
import { CLEARS, headerOf } from "../../../model/change/ways.ts";
import { batchesOf } from "../../../model/record/csv-line.ts";
import type { Operation, OutgoingRecord } from "../../../model/record/record.ts";
import type { BulkSave, BulkSaves, SavedKind } from "../../../sync/ports/push-ports.ts";
import { type Client, call } from "../client.ts";
import { asText } from "../exchange.ts";
import { lookAtJob, openJob, piecesOf, streamCsv } from "./bulk-jobs.ts";

/** An upload that is not through by then is given up. */
const UPLOAD_MILLISECONDS = 110_000;

/**
 * Jobs of the Bulk API 2.0 that save records (Salesforce, Bulk API 2.0 ingest), read and written at constant memory.
 * jsforce's own client is not used: it takes the columns from the first record, guesses the delimiter of the results, and
 * deletes a job that it has waited for too long.
 */
export function bulkSaves(client: Client): BulkSaves {
  const setState = async (jobId: string, state: string): Promise<void> => {
    await call(client, { method: "PATCH", path: pathOf(jobId), json: { state }, reads: asText });
  };
  return {
    openBulkSave: async (operation, object, externalIdField) => {
      const key = operation === "upsert" && externalIdField !== null ? { externalIdFieldName: externalIdField } : {};
      const form = { contentType: "CSV", lineEnding: "LF", columnDelimiter: "COMMA" };
      return (await openJob(client, "ingest", { object, operation: NAMES[operation], ...form, ...key })).jobId;
    },
    uploadBulkSave: async (jobId, records) => {
      // Created again for each session, for a stream is sent once.
      await call(client, () => ({
        method: "PUT",
        path: `${pathOf(jobId)}/batches`,
        headers: { "content-type": "text/csv; charset=UTF-8" },
        body: ReadableStream.from(packetsOf(linesOf(records))),
        deadline: UPLOAD_MILLISECONDS,
        reads: asText,
      }));
    },
    startBulkSave: (jobId) => setState(jobId, "UploadComplete"),
    abortBulkSave: (jobId) => setState(jobId, "Aborted"),
    pollBulkSave: (jobId) => look(client, jobId),
    bulkSaved: async (jobId, kind) => {
      const { answer } = await streamCsv(client, `${pathOf(jobId)}/${FILES[kind]}`);
      return batchesOf(piecesOf(answer), TOGETHER);
    },
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

const STATES: Readonly<Record<string, BulkSave["state"]>> = {
  Open: "open",
  JobComplete: "complete",
  Failed: "failed",
  Aborted: "aborted",
};

async function look(client: Client, jobId: string): Promise<BulkSave> {
  try {
    const job = await lookAtJob(client, pathOf(jobId));
    const { state, numberRecordsProcessed: processed = 0, numberRecordsFailed: failed = 0, errorMessage, at } = job;
    return { state: STATES[state] ?? "working", processed, failed, message: errorMessage ?? "", at };
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

const PACKET_CHARACTERS = 65_536;

/** Lines by the packet instead of each in a write of its own, so that the upload is never whole in memory. */
function* packetsOf(lines: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let packet = "";
  for (const line of lines) {
    packet += line;
    if (packet.length < PACKET_CHARACTERS) continue;
    yield encoder.encode(packet);
    packet = "";
  }
  if (packet !== "") yield encoder.encode(packet);
}

/** Records settled together, at least, as long as there are as many; fewer that have so many characters. */
const TOGETHER = { lines: 2_500, characters: 8_000_000 };
