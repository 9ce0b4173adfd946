import type { Lease, Watermarks } from "../../../sync/lease/lease-ports.ts";
import type { LoadCheckpoint } from "../../../sync/load/load-ports.ts";
import { instant, iso, type Row, type StoreContext } from "../session/sql.ts";

/** The marks of the pulls, which stand in the mapping's row; that of the load stands in the load's own. */
const PULL_MARKS = ["position", "slow", "deleted"] as const;

/** `SET` clauses for the pulls' marks that are given, their values as parameters after the first `after`. */
export function watermarksToSet(
  marks: Partial<Watermarks>,
  after: number,
): { readonly set: readonly string[]; readonly values: readonly (Date | null | undefined)[] } {
  const given = PULL_MARKS.filter((mark) => marks[mark] !== undefined);
  return {
    set: given.map((mark, index) => `${mark} = $${after + index + 1}`),
    values: given.map((mark) => marks[mark]),
  };
}

/** Whether committing these marks changes the mapping's row. */
export const movesPulls = (marks: Partial<Watermarks>): boolean => PULL_MARKS.some((mark) => marks[mark] !== undefined);

/** Writes where pulls and load stand, in the caller's transaction. */
export async function writeWatermarks(
  { session, tables }: StoreContext,
  { mappingId }: Lease,
  marks: Partial<Watermarks>,
): Promise<void> {
  if (marks.load !== undefined) {
    const load = marks.load === null ? null : JSON.stringify(marks.load);
    await session.query(`UPDATE ${tables.loads} SET load = $2 WHERE mapping_id = $1`, [mappingId, load]);
  }
  if (!movesPulls(marks)) return;
  const { set, values } = watermarksToSet(marks, 1);
  await session.query(`UPDATE ${tables.state} SET ${set.join(", ")} WHERE mapping_id = $1`, [mappingId, ...values]);
}

/** Columns of a SELECT from which `watermarksOf` reads; the arguments are aliases of the mapping's row and the load's. */
export const watermarkColumns = (state: string, load: string): string =>
  [...PULL_MARKS.map((mark) => `${iso(`${state}.${mark}`)} AS ${mark}`), `${load}.load`].join(", ");

/** Where pulls and load stand. */
export const watermarksOf = (row: Row): Watermarks => ({
  position: instant(row, "position"),
  slow: instant(row, "slow"),
  deleted: instant(row, "deleted"),
  load: loadCheckpoint(row["load"]),
});

/** Reads a load's mark as it is kept. */
function loadCheckpoint(load: unknown): LoadCheckpoint | null {
  if (load === null || typeof load !== "object") return null;
  const { startedAt, ...mark } = load as Omit<LoadCheckpoint, "startedAt"> & { readonly startedAt: string };
  return { ...mark, startedAt: new Date(startedAt) };
}
