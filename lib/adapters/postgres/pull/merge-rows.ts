import type { Verdict } from "../../../model/record/judge-image.ts";
import { awaitsAnswer, type Collision, comesBack, merge } from "../../../model/record/merge.ts";
import type { Image } from "../../../model/record/record.ts";
import type { RefusedChange } from "../log/refuse-changes.ts";
import type { MappedTable, StoreContext } from "../session/sql.ts";
import type { Conflict } from "./conflicts.ts";
import { lockByUpsertField, readSides } from "./page-context.ts";
import { type RowToWrite, rowOf } from "./row-to-write.ts";

/** A record of a page, and what is to be done with it. */
export interface Judged {
  readonly image: Image;
  readonly verdict: Verdict;
}

/** Rows with waiting changes, merged with what Salesforce shows. */
export async function mergeRows(bench: StoreContext, mapped: MappedTable, judged: readonly Judged[]) {
  const meetings = judged.flatMap(({ image, verdict }) => (verdict.kind === "merge" ? [{ ...verdict, image }] : []));
  const columns = mapped.shape.columns.map(({ column }) => column);
  const sides = await readSides(bench, mapped, meetings, columns);
  const rows: RowToWrite[] = [];
  const dropped: { readonly changeId: number; readonly columns: readonly string[] }[] = [];
  const refused: RefusedChange[] = [];
  const conflicts: Conflict[] = [];
  const awaiting: string[] = [];

  for (const [index, { key, image, waiting }] of meetings.entries()) {
    const side = sides[index];
    if (!side) throw new Error(`the row ${key} is gone although it is locked`);
    const shown = Object.fromEntries(Object.entries(side.image).filter(([column]) => column in image.values));
    const { conflictPolicy: policy } = mapped.shape;
    const meeting = { policy, image: shown, stamp: image.systemModstamp, row: side.row };
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
    conflicts.push(...result.collisions.map((collision) => ({ ...collision, sfid: image.sfid, recordId: key })));
    rows.push(rowOf(image, { key, values: result.write, waits }));
  }
  return { rows, dropped, refused, conflicts, awaiting };
}

const overruled = (collisions: readonly Collision[]) =>
  `CONFLICT: Salesforce changed the same fields, and wins [${collisions
    .filter(({ winner }) => winner === "salesforce")
    .map(({ column }) => column)
    .join(", ")}]`;

/** Rows that were deleted here while their record changed in Salesforce, and Salesforce wins. */
export async function returningRows(bench: StoreContext, mapped: MappedTable, judged: readonly Judged[]) {
  const contests = judged.flatMap(({ image, verdict }) =>
    verdict.kind === "contest" ? [{ image, key: null, deletion: verdict.deletion }] : [],
  );
  // A formula that was only read after the row was deleted is nobody's change.
  const writable = mapped.shape.columns.filter(({ createable, updateable }) => createable || updateable);
  const columns = writable.map(({ column }) => column);
  const sides = await readSides(bench, mapped, contests, columns);
  const taken = await lockByUpsertField(
    bench,
    mapped,
    contests.map(({ image }) => image),
  );
  const back = contests.filter(
    ({ image, deletion }, index) =>
      !taken.has(image.sfid) &&
      comesBack(mapped.shape.conflictPolicy, sides[index]?.image ?? {}, image.systemModstamp, deletion),
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
