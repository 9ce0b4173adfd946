import type { ConflictPolicy } from "../mapping/mapping.ts";
import type { ColumnValues } from "../mapping/shape.ts";

/** A change of a row that Salesforce has not answered yet. */
export interface WaitingChange {
  readonly id: number;
  /** Key of the row. */
  readonly recordId: number;
  readonly action: "INSERT" | "UPDATE" | "DELETE";
  /** Under way, or in doubt: it cannot be undone any more. */
  readonly isSent: boolean;
  /** It was refused, and travels again with a newer change of its row. */
  readonly isFailed?: boolean;
  /** It is not sent as long as its row has no record. */
  readonly isRecordless?: boolean;
  readonly old: ColumnValues;
  readonly values: ColumnValues;
  readonly capturedAt: Date;
}

/** The waiting DELETE of a row. */
export interface Deletion extends WaitingChange {
  /** When Salesforce last answered a save of ours of the record, by its clock; null: not lately. */
  readonly lastPushAt: Date | null;
  /** What still waits of the row from before it was deleted, in log order. */
  readonly earlier: readonly Pick<WaitingChange, "id" | "isSent" | "old" | "values">[];
}

/** A record as Salesforce shows it, and the row it belongs to; texts as the columns give them back. */
export interface Meeting {
  readonly policy: ConflictPolicy;
  readonly image: ColumnValues;
  readonly stamp: Date;
  readonly row: ColumnValues;
  /** In log order. */
  readonly waiting: readonly WaitingChange[];
  /** Which side wins each column that differs without a change. A column that is not named gets Salesforce's value. */
  readonly uncaptured?: ReadonlyMap<string, Collision["winner"]>;
}

/** One field that both sides changed. */
export interface Collision {
  readonly column: string;
  /** What both sides held before; null also where that is not known. */
  readonly base: string | null;
  readonly postgres: string | null;
  readonly salesforce: string | null;
  readonly winner: "postgres" | "salesforce";
  /** When the row was last changed so; null where no change shows it. */
  readonly postgresAt: Date | null;
}

export interface Merged {
  /** Columns that the row takes from Salesforce, only those that differ. */
  readonly write: ColumnValues;
  /** Columns that are no longer to be sent, by change. */
  readonly dropped: readonly {
    readonly changeId: number;
    readonly columns: readonly string[];
    readonly isSpent: boolean;
  }[];
  readonly collisions: readonly Collision[];
  /** Those of them that no change contains. */
  readonly uncaptured: readonly Collision[];
}

/**
 * Merges field by field, three ways: what the row held before its first waiting change is the base. A field that only
 * one side changed is taken from that side; a true collision goes by the mapping's policy. What is under way keeps its
 * field: the answer, and then the record's next image, decide.
 */
export function merge({ policy, image, stamp, row, waiting, uncaptured: winners }: Meeting): Merged {
  const write: Record<string, string | null> = {};
  const collisions: Collision[] = [];
  const uncaptured: Collision[] = [];
  const lost = new Set<string>();

  for (const [column, salesforce] of Object.entries(image)) {
    const postgres = row[column] ?? null;
    if (salesforce === postgres) continue;
    const touching = waiting.filter((change) => column in change.values);
    if (touching.length === 0) {
      const winner = winners?.get(column);
      if (winner !== undefined) uncaptured.push({ column, base: null, postgres, salesforce, winner, postgresAt: null });
      if (winner !== "postgres") write[column] = salesforce;
    } else if (!isNews(column, salesforce, touching)) continue;
    else if (touching.some(({ action }) => action === "INSERT") && postgres === null) write[column] = salesforce;
    else if (touching.every(({ isSent }) => !isSent)) {
      const winner = winnerBy(policy, stamp, touching);
      const postgresAt = touching.at(-1)?.capturedAt ?? null;
      collisions.push({ column, base: touching[0]?.old[column] ?? null, postgres, salesforce, winner, postgresAt });
      if (winner === "postgres") continue;
      write[column] = salesforce;
      lost.add(column);
    }
  }
  return { write, dropped: droppedFrom(waiting, lost), collisions: [...collisions, ...uncaptured], uncaptured };
}

/**
 * Whether Salesforce shows news of a field that is under way. They may be newer than the answer, a job's above all, and
 * then no further image follows: the record is read again once it is answered.
 */
export function awaitsAnswer({ image, row, waiting }: Pick<Meeting, "image" | "row" | "waiting">): boolean {
  return Object.entries(image).some(([column, salesforce]) => {
    const postgres = row[column] ?? null;
    const touching = waiting.filter((change) => column in change.values);
    if (salesforce === postgres || touching.every(({ isSent }) => !isSent)) return false;
    // What an INSERT leaves to Salesforce is accepted at once.
    if (postgres === null && touching.some(({ action }) => action === "INSERT")) return false;
    return isNews(column, salesforce, touching);
  });
}

/** False when Salesforce shows what the row held before its changes, or a value that one of the changes set. */
function isNews(column: string, salesforce: string | null, touching: readonly WaitingChange[]): boolean {
  const [first] = touching;
  const base = first?.old[column] ?? null;
  // An INSERT started from something only if it goes again, after an older save of the same record came late.
  const hasBase = first?.action !== "INSERT" || column in first.old;
  if (hasBase && salesforce === base) return false;
  if (first?.action === "INSERT" && salesforce === null) return false;
  return touching.every((change) => (change.values[column] ?? null) !== salesforce);
}

/** Who wins where a record was changed at `stamp`, and its row by these changes. */
export function winnerBy(
  policy: ConflictPolicy,
  stamp: Date,
  touching: readonly Pick<WaitingChange, "capturedAt">[],
): Collision["winner"] {
  if (policy !== "latest_wins") return policy === "postgres_wins" ? "postgres" : "salesforce";
  const changed = Math.max(...touching.map(({ capturedAt }) => capturedAt.getTime()));
  return changed > stamp.getTime() ? "postgres" : "salesforce";
}

function droppedFrom(waiting: readonly WaitingChange[], lost: ReadonlySet<string>): Merged["dropped"] {
  return waiting
    .map(({ id, action, values }) => {
      const columns = Object.keys(values).filter((column) => lost.has(column));
      const isSpent = action === "UPDATE" && columns.length > 0 && columns.length === Object.keys(values).length;
      return { changeId: id, columns, isSpent };
    })
    .filter(({ columns }) => columns.length > 0);
}

/** A record deleted in Salesforce whose row has waiting changes: whether the row stays, to be undeleted and updated there. */
export function survivesDeletion(policy: ConflictPolicy, stamp: Date, waiting: readonly WaitingChange[]): boolean {
  const updates = waiting.filter(({ action }) => action !== "DELETE");
  return updates.length > 0 && winnerBy(policy, stamp, updates) === "postgres";
}

/**
 * A row deleted here whose record changed in Salesforce meanwhile: whether the row comes back. What automation changed
 * at our own save, after which the row was deleted too soon to get it, does not count; nor does what the row held
 * before a change that still waits, or the result of such a change's save whose answer was lost.
 */
export function comesBack(policy: ConflictPolicy, image: ColumnValues, stamp: Date, deletion: Deletion): boolean {
  const { isSent, lastPushAt } = deletion;
  if (isSent || (lastPushAt !== null && stamp <= lastPushAt)) return false;
  const changed = Object.entries(image).some(([column, value]) => !hasHeld(deletion, column, value));
  return changed && winnerBy(policy, stamp, [deletion]) === "salesforce";
}

function hasHeld({ old, earlier }: Deletion, column: string, value: string | null): boolean {
  if (value === (old[column] ?? null)) return true;
  return earlier.some((change) => [change.old, change.values].some((side) => column in side && side[column] === value));
}
