import { OPERATIONS, type Operation } from "../record/record.ts";

/** A job of the Bulk API as the changes that it carries name it in `batch_id`: `bulk upsert 7505g00000AbCdEAAV`. */
export interface BulkBatch {
  readonly operation: Operation;
  readonly jobId: string;
}

/** How the batch of a job begins, which no other batch does. */
export const BULK_PREFIX = "bulk ";

export const bulkBatchId = ({ operation, jobId }: BulkBatch): string => `${BULK_PREFIX}${operation} ${jobId}`;

/** The job that a batch id names; null: it names none. */
export function bulkBatchOf(batchId: string): BulkBatch | null {
  const [, written, jobId] = /^bulk (\w+) (\w+)$/.exec(batchId) ?? [];
  const operation = OPERATIONS.find((one) => one === written);
  return operation && jobId !== undefined ? { operation, jobId } : null;
}

/**
 * Whether a job is polled: in each slot while it is young, so that its end is noticed within one. Beyond two and a half
 * minutes the interval is a fifteenth of its age, at most two minutes.
 */
export function isLookDue(sentAt: Date, lookedAt: Date, now: Date): boolean {
  const age = now.getTime() - sentAt.getTime();
  const apart = Math.min(Math.max(age / 15, 5_000), 120_000);
  return now.getTime() - Math.max(lookedAt.getTime(), sentAt.getTime()) >= apart;
}
