import { pushes } from "../../../model/mapping/mapping.ts";
import type { ColumnValues } from "../../../model/mapping/shape.ts";
import type { Uncaptured, Verdict } from "../../../model/record/judge-image.ts";
import {
  awaitsAnswer,
  type Collision,
  comesBack,
  type Deletion,
  merge,
  type WaitingChange,
} from "../../../model/record/merge.ts";
import type { Image } from "../../../model/record/record.ts";
import { inWordsOf } from "../../../model/record/same-value.ts";
import { differingColumns, winnersOf } from "../../../model/record/uncaptured-values.ts";
import type { RefusedChange } from "../log/refuse-changes.ts";
import type { MappedTable, StoreContext } from "../session/sql.ts";
import type { Conflict, UncapturedChange } from "./conflicts.ts";
import { lockByUpsertField, readSides } from "./page-context.ts";
import { type RowToWrite, rowOf } from "./row-to-write.ts";
import type { LateColumns } from "./write-rows.ts";

/** A record of a page, and what to do with it. */
export interface Judged {
  readonly image: Image;
  readonly verdict: Verdict;
}

/** Rows with waiting changes, or with values that no change contains, merged with what Salesforce shows. */
export async function mergeRows(
  store: StoreContext,
  mapped: MappedTable,
  judged: readonly Judged[],
  late: LateColumns = new Map(),
) {
  const meetings = judged.flatMap(({ image, verdict }) => (verdict.kind === "merge" ? [{ ...verdict, image }] : []));
  const { columns, upsertField, conflictPolicy, direction } = mapped.shape;
  const matchable = columns.filter(({ field }) => field !== upsertField);
  const sides = await readSides(
    store,
    mapped,
    meetings,
    columns.map(({ column }) => column),
  );
  const rows: RowToWrite[] = [];
  const dropped: { readonly changeId: number; readonly columns: readonly string[] }[] = [];
  const refused: RefusedChange[] = [];
  const conflicts: Conflict[] = [];
  const awaiting: string[] = [];
  const captured: UncapturedChange[] = [];

  for (const [index, { key, image, waiting, uncaptured: by }] of meetings.entries()) {
    const side = sides[index];
    if (!side) throw new Error(`the row ${key} is gone although it is locked`);
    const shown = Object.fromEntries(Object.entries(side.image).filter(([column]) => column in image.values));
    const policy = pushes(direction) ? conflictPolicy : "salesforce_wins";
    const apart = by === "match" ? differingColumns(matchable, side.row, shown) : (late.get(key) ?? []);
    const uncaptured = winnersOf(policy, apart, image.systemModstamp, by === "late" ? store.now() : null);
    const said = inWordsOf(columns, shown, waiting.flatMap(sidesOf));
    const meeting = { policy, image: said, stamp: image.systemModstamp, row: side.row, uncaptured };
    const carriers = waiting.filter(({ isFailed }) => !isFailed);
    const whole = merge({ ...meeting, waiting });
    const isSpent = new Set(whole.dropped.flatMap((change) => (change.isSpent ? [change.changeId] : [])));
    const waits = (carriers.length > 0 ? carriers : waiting).some(({ id }) => !isSpent.has(id));
    // What failed is given up with the changes that were to carry it.
    const result = waits ? whole : merge({ ...meeting, waiting: carriers });
    if (awaitsAnswer({ image: shown, row: side.row, waiting })) awaiting.push(image.sfid);
    const spent = result.dropped.filter(({ isSpent }) => isSpent);
    dropped.push(...result.dropped.filter(({ isSpent }) => !isSpent));
    refused.push(...spent.map(({ changeId }) => ({ id: changeId, reason: overruled(result.collisions) })));
    const of = { sfid: image.sfid, recordId: key, salesforceAt: image.systemModstamp };
    conflicts.push(...result.collisions.map((collision) => ({ ...collision, ...of })));
    const changes = by === null ? [] : changesOf(result.uncaptured, { key, sfid: image.sfid, by });
    captured.push(...changes);
    const isKept = changes.some(({ isOverruled }) => !isOverruled);
    // Whole, so that the rows of a page that take everything are written by one statement.
    const values = waiting.length === 0 && !isKept ? image.values : result.write;
    rows.push(rowOf(image, { key, values, waits: waits || isKept }));
  }
  return { rows, dropped, refused, conflicts, awaiting, captured };
}

/** What a row held before a change, and since. */
const sidesOf = ({ old, values }: Pick<WaitingChange, "old" | "values">): readonly ColumnValues[] => [old, values];

/** The change that the row's own values become; a first match that Salesforce has won is none. */
function changesOf(
  decided: readonly Collision[],
  row: { readonly key: number; readonly sfid: string; readonly by: Uncaptured },
): readonly UncapturedChange[] {
  const { postgres = [], salesforce = [] } = Object.groupBy(decided, ({ winner }) => winner);
  const sideOf = (some: readonly Collision[], side: "postgres" | "salesforce"): ColumnValues =>
    Object.fromEntries(some.map((one) => [one.column, one[side]]));
  const values = row.by === "late" ? [postgres, salesforce] : [postgres];
  return values
    .filter((some) => some.length > 0)
    .map((some) => ({
      ...row,
      old: sideOf(some, "salesforce"),
      values: sideOf(some, "postgres"),
      isOverruled: some === salesforce,
    }));
}

const overruled = (collisions: readonly Collision[]) =>
  `CONFLICT: Salesforce changed the same fields, and wins [${collisions
    .filter(({ winner }) => winner === "salesforce")
    .map(({ column }) => column)
    .join(", ")}]`;

/** Rows that were deleted here while their record changed in Salesforce, and Salesforce wins. */
export async function returningRows(store: StoreContext, mapped: MappedTable, judged: readonly Judged[]) {
  const contests = judged.flatMap(({ image, verdict }) =>
    verdict.kind === "contest" ? [{ image, key: null, deletion: verdict.deletion }] : [],
  );
  // A formula that was only read after the row was deleted is no change.
  const writable = mapped.shape.columns.filter(({ createable, updateable }) => createable || updateable);
  const columns = writable.map(({ column }) => column);
  const sides = await readSides(store, mapped, contests, columns);
  const taken = await lockByUpsertField(
    store,
    mapped,
    contests.map(({ image }) => image),
  );
  const said = (shown: ColumnValues, deletion: Deletion) =>
    inWordsOf(writable, shown, [deletion.old, ...deletion.earlier.flatMap(sidesOf)]);
  const back = contests.filter(
    ({ image, deletion }, index) =>
      !taken.has(image.sfid) &&
      comesBack(mapped.shape.conflictPolicy, said(sides[index]?.image ?? {}, deletion), image.systemModstamp, deletion),
  );
  return {
    rows: back.map(({ image, deletion }) => rowOf(image, { key: deletion.recordId })),
    // What waits of the row from before its deletion is in no row any more: sent, it would undo what was restored.
    refused: back.flatMap(({ deletion }) =>
      [...deletion.earlier.filter(({ isSent }) => !isSent), deletion].map(({ id }) => ({
        id,
        reason: "CONFLICT: the record changed in Salesforce after its row was deleted; the row was restored",
      })),
    ),
  };
}
