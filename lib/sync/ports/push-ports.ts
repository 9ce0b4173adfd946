import type { Action, ClaimedChange } from "../../model/change/change.ts";
import type { CsvLine } from "../../model/record/csv-line.ts";
import type { Operation, OutgoingRecord, RecordResult } from "../../model/record/record.ts";
import type { Lease, Renewal } from "./lease-ports.ts";

/** What Salesforce said about one folded write, for all the changes in it. */
export type PushOutcome = { readonly changeIds: readonly number[]; readonly recordId: number } & (
  | { readonly kind: "accepted"; readonly action: Action; readonly sfid: string | null; readonly answeredAt: Date }
  /** Folded away (inserted and deleted before it was sent, an echo …): nothing was sent, and nothing has to be. */
  | { readonly kind: "settled"; readonly message?: string }
  /** Given up for what Salesforce holds: the record is read again, and later changes of the row count from its values. */
  | { readonly kind: "givenUp"; readonly message: string; readonly sfid: string | null }
  /** It changes a record that is not there: it is held, as NEW, until its row is sent or meets its record. */
  | { readonly kind: "held" }
  /** `error` is `STATUS_CODE: message [fields]`. */
  | { readonly kind: "refused"; readonly action: Action; readonly error: string }
  /** Back to NEW, not before `afterSeconds`; `counts`: whether it is one of the five attempts. */
  | { readonly kind: "retry"; readonly afterSeconds: number; readonly counts: boolean; readonly error: string }
);

/** A save that Salesforce accepted after its cycle had lost the right to it. */
export interface LateSave {
  readonly changeIds: readonly number[];
  readonly recordId: number;
  readonly sfid: string | null;
  readonly answeredAt: Date;
}

/** The state of a job of the Bulk API 2.0 that saves records. */
export interface BulkSave {
  /** `open`: it was never started; `gone`: the org knows it no more. */
  readonly state: "open" | "working" | "complete" | "failed" | "aborted" | "gone";
  readonly processed: number;
  /** Of the processed ones. */
  readonly failed: number;
  /** Why it failed as a whole; empty when it did not. */
  readonly message: string;
  /** The org's time of this answer. */
  readonly at: Date;
}

/** Which of a job's records a file of results holds: each with its `sf__Id` or `sf__Error`, and what was uploaded. */
export type SavedKind = "successful" | "failed" | "unprocessed";

/** Jobs of the Bulk API 2.0 that save records. Nothing is saved until a job is started, and no job is started twice. */
export interface BulkSaves {
  openBulkSave(operation: Operation, object: string, externalIdField: string | null): Promise<string>;
  /** Uploads the job's records, all of the same fields, as they are written. */
  uploadBulkSave(jobId: string, records: readonly OutgoingRecord[]): Promise<void>;
  startBulkSave(jobId: string): Promise<void>;
  abortBulkSave(jobId: string): Promise<void>;
  pollBulkSave(jobId: string): Promise<BulkSave>;
  /** One file of results, in no order, in batches of some thousand as they arrive. */
  bulkSaved(jobId: string, kind: SavedKind): Promise<AsyncIterable<readonly CsvLine[]>>;
}

/** Records that are undeleted, and those that are not, with the reason, and whether that may pass. */
export interface EndedRestores {
  readonly back: readonly string[];
  readonly left: readonly { readonly sfid: string; readonly why: string; readonly mayPass: boolean }[];
}

/** Changes on their way to Salesforce. */
export interface PushStore {
  /** Puts rows back whose records are, as far as the log has them; keeps the reasons of the others. */
  endRestores(lease: Lease, ended: EndedRestores): Promise<void>;
  /**
   * NEW changes that are due, in log order, as PENDING. Changes of one record are claimed together or not at all, and
   * with them the older FAILED ones, which stay FAILED unless the write that they share is accepted, and are not
   * reported again. What is PENDING holds back its record, and later changes with its sfid or upsert value.
   */
  claim(lease: Lease, limit: number): Promise<readonly ClaimedChange[]>;
  /**
   * Before the call: from here on these changes are in doubt until settled. With `leaseSeconds` the same round trip
   * renews the lease, and nothing is marked where that does not answer `held`.
   */
  markSent(lease: Lease, batchId: string, changeIds: readonly number[], leaseSeconds?: number): Promise<Renewal>;
  /** States, sfids, `_ab_lastop`, `_ab_err`, totals and outbox events of a batch, in one transaction. */
  settle(lease: Lease, outcomes: readonly PushOutcome[]): Promise<void>;
  /**
   * After `LeaseLost`: what others have sent since of the same fields of these records is NEW again, because these saves
   * may have undone it. `underWay` is what others are sending just now.
   */
  requeueOverwritten(
    lease: Lease,
    saves: readonly LateSave[],
  ): Promise<{ readonly again: number; readonly underWay: number }>;
  /** Gives claimed, unsent changes back. */
  release(lease: Lease, changeIds: readonly number[]): Promise<void>;
}

/** How records are saved by SOAP. */
export interface Saves {
  /** At most 200 records by SOAP, results in their order. */
  write(
    operation: Operation,
    object: string,
    records: readonly OutgoingRecord[],
    externalIdField: string | null,
  ): Promise<{ readonly answeredAt: Date; readonly results: readonly RecordResult[] }>;
}
