import type { CsvPiece } from "../../model/record/csv-line.ts";
import type { ReadSize } from "../../model/record/read-size.ts";

/** A job, and the place in its results. */
export interface BulkPlace {
  readonly jobId: string;
  readonly locator: string | null;
  /** What is written of the part there, and of those behind it; null, or left out: nothing. */
  readonly written?: readonly (WrittenPart | null)[];
}

/** So many records of a part of the results are written, from its beginning to the one with this id. */
export interface WrittenPart {
  readonly records: number;
  readonly lastId: string;
}

/** How far long work has come. */
export interface LoadCheckpoint {
  /** A first load; a backfill of columns that were added; a comparison of both sides, whole; what changed since a time. */
  readonly kind: "load" | "backfill" | "sweep" | "backlog";
  /** Of a backlog: that time (ISO 8601), from which on nothing was pulled. */
  readonly since?: string | undefined;
  /** The org's time before the first page: what changed since is the fast lane's. The epoch: nothing was read yet. */
  readonly startedAt: Date;
  /** Read by REST in the order of ids: the last one that is in the table; null before the first page. */
  readonly afterId: string | null;
  /** Read by the Bulk API: the job, and the place in its results (null: their beginning). Null: read by REST. */
  readonly bulk: BulkPlace | null;
  /** The second half, which looks for rows without a record: the last row's `id`. Null: the first half. */
  readonly afterRow: number | null;
  /** Of a sweep, which compares the rows up to this key; later ones came meanwhile. */
  readonly lastRow?: number;
  /** Of a sweep, how many of these rows it has met the records of, by bucket of their ids; before the second half. */
  readonly met?: Counts;
  /** Of them, how many records it has found to differ from their rows, those without a row among them. */
  readonly differing?: number;
  readonly missing?: number;
  /** Their ids, and those of rows without a record, as many as are kept. */
  readonly ids?: readonly string[];
  /** In its second half: how many rows and records both sides held, and how many rows so far have no record. */
  readonly compared?: Pick<Comparison, "rows" | "records">;
  readonly vanished?: number;
  /** In its second half: the buckets with rows whose records it has not met. */
  readonly unmet?: readonly string[];
  /** A first load that began over rows of before: of a mapping that was restored, or of a table that was adopted. */
  readonly overRows?: true;
  /** About how many records there are to read; left out or null: not known yet. */
  readonly records?: number | null;
  /** Of them read, since that time of ours; left out before the first. */
  readonly read?: number;
  readonly readSince?: string;
  /** How much a read asks for, where that is less than a page. */
  readonly size?: ReadSize;
  /** Calls of the org's API that it has cost so far; left out: none, or an earlier version did not count them. */
  readonly calls?: number;
  /** Jobs of the Bulk API that this reading has lost: failed, aborted or expired. Left out: none. */
  readonly failedJobs?: number;
}

/** Of long work nothing was done yet. */
export const UNSTARTED = { startedAt: new Date(0), afterId: null, bulk: null, afterRow: null } as const;

/** What a sweep has found. Rows and records written during the sweep count on neither side. */
export interface Comparison {
  /** Rows with a record's id, and records in the mapping's filter. */
  readonly rows: number;
  readonly records: number;
  /** Records whose row lacked, or was another: it is right now, unless it is held, failed or could not become one. */
  readonly differing: number;
  /** Of them those without a row. */
  readonly missing: number;
  /** Rows whose record Salesforce does not show. */
  readonly vanished: number;
  /** Calls of the org's API that it has cost. */
  readonly calls: number;
  /** Ids of what differed or vanished, the first `MOST_IDS`. */
  readonly ids: readonly string[];
  readonly at: Date;
}

/** Ids of what differs that a comparison keeps. */
export const MOST_IDS = 1_000;

/** Rows, or records, by bucket. */
export type Counts = Readonly<Record<string, number>>;

/** A part of a Bulk query's results. */
export interface BulkPart {
  readonly pieces: AsyncIterable<CsvPiece>;
  /** Where the next part begins; null: this is the last. */
  readonly next: string | null;
}

/** Queries of the Bulk API 2.0. */
export interface BulkQueries {
  /** Starts a query of the Bulk API 2.0; it reads what is there from then on, deleted and archived records too. */
  startBulkQuery(soql: string): Promise<{ readonly jobId: string; readonly readAt: Date }>;
  /** How many records its results hold; null: they are not there yet. Rejects with `bug` or `tooLarge` once it has failed or was aborted. */
  bulkQueryRecords(jobId: string): Promise<number | null>;
  /** One part of its results, 50,000 records at most or so many, as its pieces arrive. */
  bulkResults(jobId: string, locator: string | null, records?: number): Promise<BulkPart>;
}
