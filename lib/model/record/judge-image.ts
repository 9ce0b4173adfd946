import type { ConflictPolicy } from "../mapping/mapping.ts";
import { type Deletion, survivesDeletion, type WaitingChange } from "./merge.ts";
import { OVERLAP_SECONDS } from "./position.ts";
import type { Image } from "./record.ts";

/**
 * How a record came to be read; `outside`: as a living one that the mapping's filter does not hold for; `vanished`: not
 * at all, and the org does not know it.
 */
export type Lane = "fast" | "slow" | "load" | "sweep" | "reread" | "deleted" | "outside" | "vanished";

/** What is known about one record of a page. */
export interface Circumstances {
  readonly image: Image;
  readonly lane: Lane;
  /** The org's time of the request that read it. */
  readonly readAt: Date;
  readonly policy: ConflictPolicy;
  /** Its row; null: it has none. */
  readonly row: {
    readonly key: number;
    readonly stamp: Date | null;
    /** The row has not met its record before. */
    readonly isFirstMatch: boolean;
  } | null;
  /** Up to this stamp an equal stamp says that Salesforce has changed nothing; null: it says so of no record. */
  readonly settledUntil: Date | null;
  /** What differs from a settled record may be the application's; false where the mapping does not push, or we may have written it. */
  readonly capturesLate: boolean;
  /** What waits to be sent of that row. */
  readonly waiting: readonly WaitingChange[];
  /** The waiting DELETE of a row that the record had. */
  readonly deletion: Deletion | null;
  /** When Salesforce answered our last push of it, if that is not before `readAt`. */
  readonly pushedAt: Date | null;
  /** Salesforce merges records of the object. */
  readonly mayBeMerged?: boolean;
  /** The org's time at which it was deleted, if a tombstone has it. */
  readonly deletedAt: Date | null;
}

/** What to do with one record of a page. */
export type Verdict =
  | { readonly kind: "insert" }
  /**
   * `isSure` false: if it differs from the row at all it is read again. `mayBeLate`: what differs may be a write of the
   * application's that no trigger saw.
   */
  | { readonly kind: "update"; readonly key: number; readonly isSure: boolean; readonly mayBeLate: boolean }
  | Merge
  | { readonly kind: "delete"; readonly key: number; readonly waiting: readonly WaitingChange[] }
  /** Deleted there, changed here, and here wins. */
  | { readonly kind: "undelete" }
  /** Deleted here, alive there. */
  | { readonly kind: "contest"; readonly deletion: Deletion }
  | { readonly kind: "reread" }
  | { readonly kind: "nothing" };

/** The record and its row decide field by field. */
export interface Merge {
  readonly kind: "merge";
  readonly key: number;
  readonly waiting: readonly WaitingChange[];
  /** Why the row may hold values that no change contains; null: it holds none. */
  readonly uncaptured: Uncaptured | null;
}

/** `match`: the row meets its record for the first time. `late`: a write of the application's that no trigger saw. */
export type Uncaptured = "match" | "late";

/** A Salesforce transaction may commit this long after the stamp that it gave (salesforce-facts 9). */
const LONGEST_TRANSACTION_MILLISECONDS = 15 * 60_000;

/** Judges one record of a page by what is known of it. */
export function judge(known: Circumstances): Verdict {
  if (isOlderThanPush(known)) return { kind: "reread" };
  const { image, lane, row } = known;
  // By its id a record is read as it is now: with an earlier stamp than its row's, the org's clock went back in between.
  if (row?.stamp && image.systemModstamp < row.stamp && lane !== "reread")
    return { kind: lane === "fast" ? "reread" : "nothing" };
  return known.image.isDeleted ? judgeDeleted(known) : judgeAlive(known);
}

/** An answer's Date has no fractions: what was read in the second of a push may be older than it. */
function isOlderThanPush({ pushedAt, readAt, image, lane }: Circumstances): boolean {
  if (pushedAt === null) return false;
  if (lane === "reread" && pushedAt.getTime() - readAt.getTime() > OVERLAP_SECONDS * 1000) return false; // the same
  return image.isDeleted ? pushedAt > readAt : pushedAt >= readAt;
}

function judgeDeleted({ image, lane, row, waiting, policy, mayBeMerged }: Circumstances): Verdict {
  if (row === null) return { kind: "nothing" };
  if (lane === "outside") {
    // A change of the row is sent first: its save sets a new stamp, and the next pull meets it outside again.
    return waiting.length > 0 ? { kind: "nothing" } : { kind: "delete", key: row.key, waiting };
  }
  // The loser of a merge lives on in its master and never comes back to life; reading it by id shows whether it is one.
  const isAsked = image.mergedInto !== undefined || (lane !== "fast" && lane !== "slow");
  if (waiting.length > 0 && mayBeMerged && !isAsked) return { kind: "reread" };
  if (!image.mergedInto && survivesDeletion(policy, image.systemModstamp, waiting)) return { kind: "undelete" };
  return { kind: "delete", key: row.key, waiting };
}

function judgeAlive(known: Circumstances): Verdict {
  const { image, lane, readAt, row, waiting, deletion, deletedAt } = known;
  if (row === null) {
    if (deletion !== null) return { kind: "contest", deletion };
    // Undeleting sets a new stamp; a stamp that is not newer shows the record before it was deleted.
    if (deletedAt !== null && lane !== "reread" && deletedAt >= image.systemModstamp) return { kind: "reread" };
    return { kind: "insert" };
  }
  if (waiting.some(hasNoBase) && isSettled(known)) return { kind: "nothing" };
  const uncaptured = row.isFirstMatch ? "match" : mayBeLate(known) ? "late" : null;
  if (waiting.length > 0 || uncaptured === "match") return { kind: "merge", key: row.key, waiting, uncaptured };
  const sure = isSure(image, row.stamp, lane, readAt);
  return { kind: "update", key: row.key, isSure: sure, mayBeLate: sure && uncaptured === "late" };
}

const mayBeLate = (known: Circumstances): boolean => known.capturesLate && known.lane !== "load" && isSettled(known);

/** Whether Salesforce has certainly changed nothing since the row took the record's values, so that others are the row's. */
function isSettled({ image, row, settledUntil }: Circumstances): boolean {
  if (settledUntil === null || !row?.stamp) return false;
  return row.stamp <= settledUntil && image.systemModstamp.getTime() === row.stamp.getTime();
}

/** A whole row that was captured without its old values: only the stamp says whether Salesforce has changed it. */
const hasNoBase = ({ action, old, values }: WaitingChange): boolean =>
  action === "UPDATE" && Object.keys(old).length === 0 && Object.keys(values).length > 0;

/** Two writes in one second share a stamp; only a reading of the present shows which came last. */
function isSure(image: Image, stamp: Date | null, lane: Lane, readAt: Date): boolean {
  const isOfThePast = lane === "load" || lane === "sweep";
  if (!isOfThePast || stamp === null || image.systemModstamp > stamp) return true;
  return readAt.getTime() - image.systemModstamp.getTime() > LONGEST_TRANSACTION_MILLISECONDS;
}
