import { randomUUID } from "node:crypto";
import type { BulkBatch } from "../../model/change/bulk-batch.ts";
import { bulkError } from "../../model/change/bulk-error.ts";
import type { Write } from "../../model/change/fold.ts";
import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { errorText } from "../../model/change/row-error.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import { type CsvLine, valueIn } from "../../model/record/csv-line.ts";
import type { RecordResult } from "../../model/record/record.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { BulkSave, PushOutcome, SavedKind } from "../ports/push-ports.ts";
import { outcomesOf } from "./outcome-of.ts";
import { type PushProgress, putOff, settle } from "./push-progress.ts";
import { idsOf } from "./save-batch.ts";

/** A job of the Bulk API and the name by which its changes know it. */
export interface Job extends BulkBatch {
  readonly batchId: string;
}

/** Writes by what a line of results says of them. */
type ByKey = Map<string, Write>;

/** The writes of a job by Id, or by upsert value; a job holds none of them twice. */
export function writesByKey(shape: TableShape, { operation }: BulkBatch, writes: readonly Write[]): ByKey {
  const sent = ({ id, values }: Write["record"]) => (operation === "upsert" ? values[shape.upsertField ?? ""] : id);
  return new Map(writes.map((write) => [keyOf(operation, sent(write.record) ?? ""), write]));
}

/** Ids of 15 and of 18 characters name one record; upsert values of one job differ by more than case and blanks. */
export function keyOf(operation: BulkBatch["operation"], value: string): string {
  return operation === "upsert" ? value.trim().toLowerCase() : value.slice(0, 15);
}

/**
 * Settles the results of a finished job, file by file as they arrive. What was refused goes by the same table as a
 * refusal of SOAP; what was not processed is sent again, by SOAP; what is in no file is in doubt.
 */
export async function collectResults(
  cycle: Cycle,
  sending: PushProgress,
  job: Job,
  save: BulkSave,
  writes: ByKey,
): Promise<void> {
  for (const kind of FILES[save.state](save)) await takeFile(cycle, sending, job, save, kind, writes);
  const unknown = [...writes.values()];
  for (const write of unknown) sending.delayed.set(write, 0);
  if (unknown.length > 0) await cycle.store.markSent(cycle.lease, randomUUID(), idsOf(unknown));
}

/** An aborted job may still have been saving when it reported what it had not processed. */
const FILES: Readonly<Record<BulkSave["state"], (save: BulkSave) => readonly SavedKind[]>> = {
  open: () => [],
  working: () => [],
  complete: ({ processed, failed }) => [
    ...(failed > 0 ? (["failed"] as const) : []),
    ...(processed > failed ? (["successful"] as const) : []),
  ],
  failed: () => ["successful", "failed", "unprocessed"],
  aborted: () => ["successful", "failed"],
  gone: () => [],
};

async function takeFile(
  cycle: Cycle,
  sending: PushProgress,
  job: Job,
  save: BulkSave,
  kind: SavedKind,
  writes: ByKey,
): Promise<void> {
  try {
    for await (const lines of await cycle.salesforce.bulkSaved(job.jobId, kind)) {
      const parsed = lines.flatMap((line) => {
        const write = take(cycle, job, line, writes);
        return write ? [{ write, line }] : [];
      });
      await settle(cycle, sending, await outcomesIn(cycle, sending, save, kind, parsed));
      await cycle.hold.mayRead();
    }
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || error.refusal.code !== "NOT_FOUND") throw error;
    cycle.tally.notes.push(
      `results of job ${job.jobId} are gone (${error.message}); its records are looked up instead`,
    );
  }
}

/** Undefined: another cycle has settled it already. */
function take({ shape }: Cycle, { operation }: Job, line: CsvLine, writes: ByKey): Write | undefined {
  const column = operation === "upsert" ? (shape.upsertField ?? "") : "Id";
  const key = keyOf(operation, valueIn(line, column) ?? "");
  const write = writes.get(key);
  writes.delete(key);
  return write;
}

interface ParsedLine {
  readonly write: Write;
  readonly line: CsvLine;
}

async function outcomesIn(
  cycle: Cycle,
  sending: PushProgress,
  { at, message }: BulkSave,
  kind: SavedKind,
  parsed: readonly ParsedLine[],
): Promise<PushOutcome[]> {
  if (kind === "unprocessed") return parsed.map(({ write }) => again(sending, write, message));
  const results = parsed.map(({ line }) => resultOf(kind, line));
  const writes = parsed.map(({ write }) => write);
  return await outcomesOf(cycle, sending, writes, results, at);
}

function resultOf(kind: SavedKind, line: CsvLine): RecordResult {
  const id = valueIn(line, "sf__Id") || null;
  const success = kind === "successful";
  const errors = success ? [] : [bulkError(valueIn(line, "sf__Error") ?? "")];
  return { id, success, created: valueIn(line, "sf__Created") === "true", errors };
}

/** Counts as an attempt, and so goes by SOAP, which says what is wrong with a request; what follows waits for it. */
function again(sending: PushProgress, write: Write, message: string): PushOutcome {
  const error = errorText([{ code: "BULK_JOB_FAILED", message: message || "not processed", fields: [] }]);
  return putOff(sending, write, 0, error, { counts: true });
}
