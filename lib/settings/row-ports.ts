import * as z from "zod/mini";
import { ACTIONS, STATES } from "../model/change/change.ts";
import type { Migration, Proposal } from "../model/mapping/migration.ts";
import type { ColumnValues, TableShape } from "../model/mapping/shape.ts";
import type { Page, Slice } from "../model/page.ts";
import type { DryRun } from "../model/record/dry-run.ts";
import type { RowState } from "../model/record/row-state.ts";
import type { CamelCased } from "../model/snake-case.ts";
import type { Span } from "../model/span.ts";
import type { PostgresConnection } from "../model/workspace/workspace.ts";
import type { LoadCheckpoint } from "../sync/ports/load-ports.ts";
import type { ChosenDeletes, HeldDelete, Rejections } from "./held-deletes/reject-ports.ts";
import type { RestoredRows } from "./restore/restore-ports.ts";
import { nullableTimestamp, timestamp } from "./shapes.ts";

/** What the settings area asks of a customer's database about rows. Rejects with `DatabaseUnavailable`. */
export interface RowQueriesOf {
  open(postgres: PostgresConnection): Promise<RowQueries>;
}

/** One customer's database, for one request. A schema that nothing was provisioned in yet answers like an empty one. */
export interface RowQueries extends Rejections, RestoredRows {
  /** What of these migrations is still to be done; none where Bridge changes tables itself. */
  propose(migrations: readonly Migration[]): Promise<readonly Proposal[]>;
  /** How far every mapping of the schema is. */
  progress(): Promise<readonly MappingProgress[]>;
  /** Seconds from a change's capture to Salesforce's word, over the mapping's last 1,000; null before the first. */
  lag(mappingId: string): Promise<Lag | null>;
  /** What Salesforce said of changes in that time, and how cycles ended, by step, oldest first. */
  throughput(span: Span): Promise<Throughput>;
  /** One change of the trigger log with all that is known of it; null: there is none, or not any more. */
  change(id: number): Promise<CapturedChange | null>;
  /** A row, or what was one, by its record's id, its own key or the value of the upsert field; null: none is known by it. */
  story(mappingId: string, key: string): Promise<RowStory | null>;
  /** A page of rows; null: there is no table yet; or why there is none. */
  browse(mappingId: string, asked: RowsAsked): Promise<BrowsedRows | "tooLong" | "unknownColumn" | null>;
  /** Writes values into a row as its application would. */
  writeRow(mappingId: string, asked: RowWrite): Promise<WrittenRow>;
  /** Rows of the mapping's table, counted up to a million. */
  countRows(mappingId: string): Promise<number>;
  /** Failed changes by kind, the most frequent first, among the latest 10,000; null is every table. */
  failures(table: string | null): Promise<readonly FailureKind[]>;
  /** The latest failed changes of a kind, of which one page is enough to see what they have in common. */
  failedRows(fingerprint: string): Promise<readonly FailedRow[]>;
  /** Failed changes that can be tried again, at most `limit`, oldest first; one that a newer state of its row has overruled cannot. */
  findFailed(which: FailedChanges, limit: number): Promise<FoundFailed>;
  /** Makes them wait again; how many. */
  retry(mappingId: string, logIds: readonly number[]): Promise<number>;
  /** Dismisses them; they stay FAILED in the log, and their errors say so; how many. */
  dismiss(mappingId: string, logIds: readonly number[]): Promise<number>;
  /** Makes records that could not become rows be read again by the next cycle, all of a mapping or one; how many. */
  retryInbound(mappingId: string, sfid: string | null): Promise<number>;
  inboundErrors(mappingId: string | null, slice: Slice): Promise<Page<InboundError>>;
  conflicts(mappingId: string | null, slice: Slice): Promise<Page<Conflict>>;
  /** Ids of what the last comparison found to differ, the first 1,000. */
  comparedIds(mappingId: string): Promise<readonly string[]>;
  /** What a conflict was about; null: there is none of this id, or not any more. */
  conflict(id: number): Promise<Pick<Conflict, "mappingId" | "field"> | null>;
  /** Gives the row the value that lost, as an application would; null: done, else why not. */
  useOtherValue(id: number): Promise<string | null>;
  /** Deletes that the breaker holds back on either side, longest first. */
  heldDeletes(mappingId: string, slice: Slice): Promise<Page<HeldDelete>>;
  /** Lets deletes go that the breaker holds back on either side, or those that were chosen, about as many as `most`; how many. */
  confirmDeletes(mappingId: string, most: number, only: ChosenDeletes | null): Promise<number>;
  /** Deletes of the last hour that the breaker let through, on either side. */
  recentDeletes(mappingId: string): Promise<number>;
  /** Makes every record be read again beside the cycles; false: the mapping is not provisioned. */
  startOver(mappingId: string): Promise<boolean>;
  /**
   * Marks all rows to be captured as changed, which provisioning does; false: the mapping is not provisioned. Until that
   * has ended no cycle begins, and a running one loses its lease.
   */
  captureAll(mappingId: string): Promise<boolean>;
  /** The mapping's last dry run; null: it had none. */
  dryRun(mappingId: string): Promise<DryRun | null>;
  /** Begins one in place of the last; null: the mapping is not provisioned. */
  startDryRun(mappingId: string, run: DryRun): Promise<DryRun | null>;
  /** Agrees to what the last dry run has found; false: its digest is another one. */
  confirmDryRun(mappingId: string, digest: string): Promise<boolean>;
  /** Captures rows without a record as if they were inserted now, at most `limit`. */
  captureExisting(mappingId: string, limit: number): Promise<number>;
}

/** A first load, all records again, the comparison of both sides, what has changed since a time. */
export const READINGS = ["load", "backfill", "sweep", "backlog"] as const satisfies readonly LoadCheckpoint["kind"][];

/** How far a mapping is. */
export const mappingProgress = z.object({
  mapping_id: z.string(),
  /** The first load has ended. */
  loaded: z.boolean(),
  /** What reads all records now; null: nothing does. */
  reading: z.nullable(z.enum(READINGS)),
  /** About how many records there are to read, as far as known, how many of them are read, and since when. */
  records_to_read: z.nullable(z.int()),
  records_read: z.int(),
  reading_since: nullableTimestamp(),
  /** How much a read asks for; null: whole pages. */
  read_size: z.nullable(z.object({ rows: z.int() })),
  /** Until when the org's clock repeats time that it went back by; null: it does not. */
  clock_back_until: nullableTimestamp(),
  last_pull_at: nullableTimestamp(),
  last_run_at: nullableTimestamp(),
  rows_synced: z.int(),
  api_calls: z.record(z.string(), z.int()),
  /** Changes that wait or are being sent. */
  waiting: z.int(),
  /** When the oldest of them was captured; null: none waits. */
  oldest_waiting_at: nullableTimestamp(),
  /** Changes that Salesforce refused; of the latest 10,000 those that were dismissed or overruled do not count. */
  failed: z.int(),
  held_deletes: z.int(),
  /** Changes that are held because their row has no record. */
  recordless: z.int(),
  /** What the last sweep found; null: none has ended yet. */
  compared: z.nullable(
    z.object({
      at: timestamp(),
      rows: z.int(),
      records: z.int(),
      differing: z.int(),
      vanished: z.int(),
      // Versions before this one kept none of these.
      missing: z._default(z.nullable(z.int()), null),
      unsent: z._default(z.nullable(z.int()), null),
      refused: z._default(z.nullable(z.int()), null),
      calls: z._default(z.nullable(z.int()), null),
    }),
  ),
  /** False: Salesforce lets several records have one value of the upsert field. */
  upsert_field_unique: z.boolean(),
  /** Required fields that the mapping lacks; and columns whose types can never hold their fields, with such as could. */
  lacking: z.array(z.string()),
  unfit: z.array(z.object({ column: z.string(), is: z.string(), should: z.string() })),
  inbound_errors: z.int(),
  /** Changes that have waited for more than an hour for parents which Salesforce does not have; null: none. */
  waiting_for_parents: z.nullable(z.object({ changes: z.int(), since: timestamp(), example: z.string() })),
});
export type MappingProgress = CamelCased<typeof mappingProgress>;

export interface Lag {
  readonly p50: number;
  readonly p95: number;
}

/** How the cycles of a mapping ended that ended in one step, and what they moved; what long work has read is in it. */
export interface CycleStep {
  readonly mappingId: string;
  readonly at: Date;
  readonly well: number;
  readonly failed: number;
  readonly stopped: number;
  /** Rows inserted, updated and deleted for records. */
  readonly pulled: number;
  readonly accepted: number;
  readonly refused: number;
}

/** Answered changes by mapping and step. */
export interface Throughput {
  readonly steps: readonly CycleStep[];
  /** From a change's capture to Salesforce's word, by mapping, of its latest 200 of that time. */
  readonly lags: ReadonlyMap<string, Lag>;
}

/** The changed columns on one side, as texts; null where there is no such side. */
const columns = z.nullable(z.record(z.string(), z.nullable(z.string())));

/** A change as the trigger log has it: what was captured, and its result. */
export const capturedChange = z.object({
  id: z.int(),
  table_name: z.string(),
  record_id: z.int(),
  sfid: z.nullable(z.string()),
  action: z.enum(ACTIONS),
  state: z.enum(STATES),
  /** `trigger`; `late`: a pull found a write that no trigger saw; `match`: the row met its record for the first time. */
  captured: z.enum(["trigger", "late", "match"]),
  old: columns,
  values: columns,
  created_at: timestamp(),
  sent_at: nullableTimestamp(),
  synced_at: nullableTimestamp(),
  /** Attempts that counted; the fifth is the last. */
  attempts: z.int(),
  /** Not sent before; null: as soon as can be. */
  due_at: nullableTimestamp(),
  /** What Salesforce, or the row, said last. */
  message: z.nullable(z.string()),
  /** A delete that the breaker holds back until an operator confirms; else a change of a row that has no record. */
  held: z.boolean(),
  /** A newer change of its row has overruled it: it is not tried again. */
  superseded: z.boolean(),
});
export type CapturedChange = CamelCased<typeof capturedChange>;

/** Failed changes of one table and action whose errors differ in nothing but names, numbers and ids. */
export const failureKind = z.object({
  fingerprint: z.string(),
  table_name: z.string(),
  action: z.string(),
  sample: z.string(),
  count: z.int(),
  last_at: timestamp(),
});
export type FailureKind = CamelCased<typeof failureKind>;

/** Names a kind of failures. */
export const fingerprint = () =>
  z.string({ error: "must be a text" }).check(z.regex(/^[0-9a-f]{16}$/, { error: "must be a fingerprint" }));

/** A failed change of a kind. */
export const failedRow = z.object({
  id: z.int(),
  record_id: z.int(),
  sfid: z.nullable(z.string()),
  name: z.nullable(z.string()),
  error: z.string(),
  at: timestamp(),
  /** Of the fields that Salesforce named, what the change would have written. This and the name are null where the token may not see values. */
  values: z.nullable(z.record(z.string(), z.nullable(z.string()))),
});
export type FailedRow = CamelCased<typeof failedRow>;

export interface FailedChanges {
  /** Trigger-log id. */
  readonly id: number | null;
  readonly fingerprint: string | null;
  readonly table: string | null;
}

/** Trigger-log ids by mapping, and how many there are in all. */
export interface FoundFailed {
  readonly total: number;
  readonly idsByMapping: ReadonlyMap<string, readonly number[]>;
}

/** The result of a retry: how many changes wait again, and how many more could be retried, for one call has a limit. */
export const retriedView = z.object({ retried: z.int(), remaining: z.int() });
export type Retried = CamelCased<typeof retriedView>;

/** A record that could not become a row. */
export const inboundErrorView = z.object({
  mapping_id: z.string(),
  sf_object: z.nullable(z.string()),
  sfid: z.string(),
  error: z.string(),
  attempts: z.int(),
  first_at: timestamp(),
  last_at: timestamp(),
});

/** The same without what the configuration knows. */
export const inboundError = z.omit(inboundErrorView, { sf_object: true });
export type InboundError = CamelCased<typeof inboundError>;

/** A field that changed on both sides, and who won. */
export const conflictView = z.object({
  id: z.int(),
  mapping_id: z.string(),
  sf_object: z.nullable(z.string()),
  sfid: z.string(),
  record_id: z.int(),
  /** Column; null: the whole record. */
  field: z.nullable(z.string()),
  base: z.nullable(z.string()),
  postgres: z.nullable(z.string()),
  salesforce: z.nullable(z.string()),
  winner: z.string(),
  at: timestamp(),
  /** When each side was last changed, by its own clock; null where that is not known. */
  postgres_at: nullableTimestamp(),
  salesforce_at: nullableTimestamp(),
});

/** The same without what the configuration knows. */
export const conflict = z.omit(conflictView, { sf_object: true });
export type Conflict = CamelCased<typeof conflict>;

/** Who wrote a change, and the attempts at it that Salesforce refused, oldest first. */
const storyChange = z.extend(capturedChange, {
  actor: z.nullable(z.string()),
  attempts_refused: z.array(z.object({ at: timestamp(), message: z.string() })),
});

/** Everything that the database knows of one row, the latest 200 of each kind, newest first. */
export const rowStory = z.object({
  /** Null: the record never became a row. */
  record_id: z.nullable(z.int()),
  sfid: z.nullable(z.string()),
  /** The mapped columns of the row as it is, as exact texts; null: it is not there. */
  row: z.nullable(z.record(z.string(), z.nullable(z.string()))),
  changes: z.array(storyChange),
  conflicts: z.array(conflict),
  /** What Salesforce changed in the row: by column, before and after. */
  pulled: z.array(
    z.object({
      at: timestamp(),
      fields: z.record(z.string(), z.tuple([z.nullable(z.string()), z.nullable(z.string())])),
    }),
  ),
  deletions: z.array(z.object({ at: timestamp(), by_salesforce: z.boolean(), reason: z.string() })),
  inbound: z.nullable(inboundError),
});
export interface RowStory extends CamelCased<typeof rowStory> {
  readonly shape: TableShape;
}

/** Values for a row, found by its key. */
export interface RowWrite {
  /** The row's own key: a whole number of up to 18 digits. */
  readonly recordId: string;
  readonly values: ColumnValues;
  /** What the row holds of some of these columns, as the caller has seen it. */
  readonly was: ColumnValues;
  /** The writer that the log names. */
  readonly actor: string;
}

/** The result of writing a row; in all but the first case nothing was changed. */
export type WrittenRow =
  | { readonly kind: "written"; readonly changeId: number }
  | { readonly kind: "absent" | "busy" | "uncaptured" }
  | { readonly kind: "moved"; readonly column: string }
  /** By PostgreSQL, or because the column may not be written; `column` null: by several together. */
  | { readonly kind: "refused"; readonly column: string | null; readonly message: string };

/** Which rows of a mapping are asked for. */
export interface RowsAsked {
  readonly state: RowState | null;
  readonly sortsByState: boolean;
  /** Searched in this column, or in all of them where it is null. */
  readonly find: string | null;
  readonly column: string | null;
  /** The last row of the page before. */
  readonly after: { readonly state: RowState; readonly key: string } | null;
  readonly limit: number;
}

/** A row with its mapped columns as exact texts. */
export interface BrowsedRow {
  readonly recordId: string | number;
  readonly sfid: string | null;
  readonly error: string | null;
  readonly state: RowState;
  readonly values: ColumnValues | null;
}

export interface BrowsedRows {
  readonly shape: TableShape;
  /** Types of its columns, as PostgreSQL writes them: `character varying(80)`. */
  readonly types: Readonly<Record<string, string>>;
  readonly rows: readonly BrowsedRow[];
}
