import {
  type Lanes,
  type Lease,
  LongWorkUnderWay,
  type Watermarks,
  WriteUndone,
} from "../../../sync/ports/lease-ports.ts";
import type { LoadCheckpoint } from "../../../sync/ports/load-ports.ts";
import { instant, iso, type Row, type StoreContext } from "../session/sql.ts";

/** The watermarks of the pulls, in the mapping's row; that of the load is in the load's own. */
const PULL_MARKS = ["position", "slow", "deleted", "lanes"] as const;

/** `SET` clauses for the pulls' marks that are given, and the values that they name. */
export function watermarksToSet(marks: Partial<Watermarks>): {
  readonly set: readonly string[];
  readonly values: Readonly<Record<string, Date | string | null>>;
} {
  const given = PULL_MARKS.filter((mark) => marks[mark] !== undefined);
  return {
    set: given.map((mark) =>
      mark === "lanes" ? "lanes = coalesce(s.lanes, '{}') || :lanes::jsonb" : `${mark} = :${mark}`,
    ),
    values: Object.fromEntries(
      given.map((mark) => [mark, mark === "lanes" ? JSON.stringify(marks.lanes, orNull) : (marks[mark] ?? null)]),
    ),
  };
}

const orNull = (_: string, value: unknown) => (value === undefined ? null : value);

/** Whether committing these marks changes the mapping's row. */
export const movesPulls = (marks: Partial<Watermarks>): boolean => PULL_MARKS.some((mark) => marks[mark] !== undefined);

/** Writes the watermarks of pulls and load, in the caller's transaction. */
export async function writeWatermarks(
  { session, tables }: StoreContext,
  lease: Lease,
  marks: Partial<Watermarks>,
): Promise<void> {
  const { mappingId } = lease;
  if (marks.load !== undefined) {
    const load = marks.load === null ? null : JSON.stringify(marks.load);
    const written = await session.query(
      `UPDATE ${tables.loads} SET load = $2 WHERE mapping_id = $1${lease.work === "cycle" ? IS_FREE : ""} RETURNING mapping_id`,
      [mappingId, load],
    );
    if (written.length === 0) throw new LongWorkUnderWay(`long work of mapping ${mappingId} is under way`);
  }
  const { set, values } = watermarksToSet(marks);
  if (set.length === 0) return;
  const move = `UPDATE ${tables.state} s SET ${set.join(", ")} WHERE mapping_id = :mapping RETURNING mapping_id`;
  // The same pages would be read for ever.
  if ((await session.query(move, { mapping: mappingId, ...values })).length === 0) throw new WriteUndone(tables.state);
}

/** A cycle hands long work over where there is none: it does not hold the lease of what another does. */
const IS_FREE = " AND load IS NULL AND (lease_until IS NULL OR lease_until <= clock_timestamp())";

/** Columns of a SELECT from which `watermarksOf` reads; the arguments are aliases of the mapping's row and the load's. */
export const watermarkColumns = (state: string, load: string): string =>
  [
    ...["position", "slow", "deleted"].map((mark) => `${iso(`${state}.${mark}`)} AS ${mark}`),
    ...[`${state}.lanes`, `${load}.load`],
  ].join(", ");

/** The watermarks of pulls and load. */
export const watermarksOf = (row: Row): Watermarks => ({
  position: instant(row, "position"),
  slow: instant(row, "slow"),
  deleted: instant(row, "deleted"),
  lanes: lanesIn(row["lanes"]),
  load: loadCheckpoint(row["load"]),
});

/** Reads a load's checkpoint as it is kept. */
function loadCheckpoint(load: unknown): LoadCheckpoint | null {
  if (load === null || typeof load !== "object") return null;
  const { startedAt, ...checkpoint } = load as Omit<LoadCheckpoint, "startedAt"> & { readonly startedAt: string };
  return { ...checkpoint, startedAt: new Date(startedAt) };
}

/** Reads the places of the lanes as they are kept, null where there is none. */
function lanesIn(lanes: unknown): Lanes {
  const kept = Object.entries((lanes ?? {}) as Readonly<Record<string, { readonly stamp?: string } | number | null>>);
  return Object.fromEntries(
    kept.flatMap(([name, value]) => {
      if (value === null) return [];
      const isPlace = typeof value === "object" && value.stamp !== undefined;
      return [[name, isPlace ? { ...value, stamp: new Date(value.stamp ?? 0) } : value]];
    }),
  );
}
