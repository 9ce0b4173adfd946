import { judge, type Verdict } from "../../model/judge-image.ts";
import { type Collision, comesBack, merge } from "../../model/merge.ts";
import type { Image } from "../../model/record.ts";
import type { Applied, Lease, Page } from "../../sync/ports.ts";
import { type Conflict, dropColumns, recordConflicts } from "./conflicts.ts";
import { deleteRows } from "./delete-rows.ts";
import { imagesInDoubt } from "./doubtful-inserts.ts";
import { fenced, type Workbench } from "./fence.ts";
import { clearInboundErrors, writeInboundErrors } from "./inbound-errors.ts";
import type { MappedTable } from "./layout.ts";
import { movesPulls, writeMarks } from "./marks.ts";
import { type LockedRow, lockByUpsertField, lockRows, readAround, readSides } from "./page-rows.ts";
import { type RefusedChange, refuseChanges } from "./refuse-changes.ts";
import { insertRows, type RowToWrite, updateRows } from "./write-rows.ts";

interface Patience {
  readonly lockMilliseconds: number;
  /** Rows that a transaction of the customer holds are left for later instead of waited for. */
  readonly skipsLocked: boolean;
}

/** When a record whose row was held is read again. */
const BUSY_RETRY_SECONDS = 10;

/**
 * One page in one transaction of separate statements, because each sees what was committed before it began: first the
 * rows are locked, then what waits of them is read, then they are merged and written. A single statement would judge
 * on what it saw before it got its locks, and would lose a user's edit.
 */
export async function applyImages(
  bench: Workbench,
  lease: Lease,
  page: Page,
  { lockMilliseconds, skipsLocked }: Patience,
): Promise<Applied> {
  const settings = { silent: true, lockMilliseconds, changesState: movesPulls(page.marks) };
  return await fenced(bench, lease, settings, async () => {
    const applied = page.images.length === 0 ? null : await applyAll(bench, lease, page, skipsLocked);
    await writeMarks(bench, lease, page.marks);
    return applied ?? NOTHING;
  });
}

const NOTHING: Applied = {
  inserted: 0,
  updated: 0,
  deleted: 0,
  unchanged: 0,
  reread: [],
  rejected: 0,
  conflicts: 0,
  heldDeletes: 0,
};

interface Judged {
  readonly image: Image;
  readonly verdict: Verdict;
}

async function applyAll(bench: Workbench, lease: Lease, page: Page, skipsLocked: boolean): Promise<Applied> {
  const mapped = bench.mapped(lease);
  const images = newestOfEach(page.images);
  const { rows, busy } = await lockRows(bench, mapped, images, skipsLocked);
  const bySfid = new Map(rows.map((row) => [row.sfid, row]));
  const rowless = images.filter(({ sfid, isDeleted }) => !isDeleted && !bySfid.has(sfid) && !busy.has(sfid));
  const byUpsert = await lockByUpsertField(bench, mapped, rowless);
  const around = await readAround(
    bench,
    mapped,
    { ...page, images },
    [...rows, ...byUpsert.values()].map(({ key }) => key),
  );

  const rowOf = (sfid: string): LockedRow | null =>
    bySfid.get(sfid) ?? (around.deletionBySfid.has(sfid) ? null : (byUpsert.get(sfid) ?? null));
  const judged = images
    .filter(({ sfid }) => !busy.has(sfid))
    .map((image): Judged => {
      const row = rowOf(image.sfid);
      const verdict = judge({
        image,
        lane: page.lane,
        readAt: page.readAt,
        policy: mapped.shape.conflictPolicy,
        row,
        waiting: row ? (around.waitingByKey.get(row.key) ?? []) : [],
        deletion: around.deletionBySfid.get(image.sfid) ?? null,
        pushedAt: around.pushedLater.get(image.sfid) ?? null,
        deletedAt: around.tombstones.get(image.sfid) ?? null,
      });
      return { image, verdict };
    });

  const applied = await carryOut(bench, lease, mapped, judged, { ...around, readAt: page.readAt });
  await dropHolds(bench, lease, around.heldDeletes, judged);
  const again = new Set(applied.reread);
  await writeInboundErrors(bench, lease, [
    ...[...busy].map((sfid) => busyRow(bench, sfid)),
    ...applied.reread.map((sfid) => outdatedRow(bench, sfid)),
  ]);
  await clearInboundErrors(
    bench,
    lease,
    around.inboundErrors.filter((sfid) => !busy.has(sfid) && !again.has(sfid)),
  );
  return { ...applied, rejected: busy.size };
}

/** A page may hold a record twice when it changed between two of Salesforce's pages. */
function newestOfEach(images: readonly Image[]): Image[] {
  const newest = new Map<string, Image>();
  for (const image of images) {
    const other = newest.get(image.sfid);
    if (!other || other.systemModstamp <= image.systemModstamp) newest.set(image.sfid, image);
  }
  return [...newest.values()];
}

const busyRow = (bench: Workbench, sfid: string) => ({
  sfid,
  error: "the row is held by a transaction of yours; the record is read again as soon as it ends",
  sqlState: "55P03",
  retryAt: new Date(bench.now().getTime() + BUSY_RETRY_SECONDS * 1000),
});

/** Written down because the position moves on: a cycle that dies before it reads the record again must not forget it. */
const outdatedRow = (bench: Workbench, sfid: string) => ({
  sfid,
  error: "it was read before our last save of it; the record is read again",
  sqlState: null,
  retryAt: bench.now(),
});

async function carryOut(
  bench: Workbench,
  lease: Lease,
  mapped: MappedTable,
  judged: readonly Judged[],
  { hasSentInserts, readAt }: { readonly hasSentInserts: boolean; readonly readAt: Date },
): Promise<Applied> {
  const reread = judged.filter(({ verdict }) => verdict.kind === "reread").map(({ image }) => image.sfid);
  const deletions = judged.flatMap(({ image, verdict }) => (verdict.kind === "delete" ? [{ ...verdict, image }] : []));
  const { deleted, held } = await deleteRows(bench, lease, mapped, deletions, readAt);

  const merged = await mergeRows(bench, mapped, judged);
  const returned = await returningRows(bench, mapped, judged);
  const updates = judged.flatMap(({ image, verdict }) =>
    verdict.kind === "update" ? [rowOf(image, { key: verdict.key, isSure: verdict.isSure })] : [],
  );
  const differing = await updateRows(bench, mapped, [...updates, ...merged.rows]);

  const fresh = judged.filter(({ verdict }) => verdict.kind === "insert").map(({ image }) => image);
  const doubtful = hasSentInserts ? await imagesInDoubt(bench, mapped, fresh) : new Set<string>();
  const inserts = fresh.filter(({ sfid }) => !doubtful.has(sfid)).map((image) => rowOf(image, { key: null }));
  await insertRows(bench, mapped, [...inserts, ...returned.rows]);

  await dropColumns(bench, merged.dropped);
  await refuseChanges(bench, mapped, [...merged.refused, ...returned.refused]);
  await recordConflicts(bench, lease, merged.conflicts);

  const unsure = updates.filter(({ key, isSure }) => !isSure && key !== null && differing.has(key));
  const inserted = inserts.length + returned.rows.length;
  const updated = differing.size - unsure.length;
  const again = [...reread, ...unsure.map(({ sfid }) => sfid)];
  return {
    inserted,
    updated,
    deleted,
    reread: again,
    unchanged: judged.length - inserted - updated - deleted - held - again.length,
    rejected: 0,
    conflicts: merged.conflicts.length,
    heldDeletes: held,
  };
}

/** A record that is alive again needs no deletion any more. */
async function dropHolds(
  { session, tables }: Workbench,
  { mappingId }: Lease,
  held: readonly string[],
  judged: readonly Judged[],
): Promise<void> {
  const alive = judged
    .filter(({ image, verdict }) => !image.isDeleted && ["update", "merge"].includes(verdict.kind))
    .map(({ image }) => image.sfid)
    .filter((sfid) => held.includes(sfid));
  if (alive.length === 0) return;
  await session.query(`DELETE FROM ${tables.heldDeletes} WHERE mapping_id = $1 AND sfid = ANY ($2::text[])`, [
    mappingId,
    alive,
  ]);
}

function rowOf(image: Image, more: Partial<RowToWrite> & { readonly key: number | null }): RowToWrite {
  return { sfid: image.sfid, stamp: image.systemModstamp, values: image.values, isSure: true, waits: false, ...more };
}

/** Rows with waiting changes, merged with what Salesforce shows. */
async function mergeRows(bench: Workbench, mapped: MappedTable, judged: readonly Judged[]) {
  const meetings = judged.flatMap(({ image, verdict }) => (verdict.kind === "merge" ? [{ ...verdict, image }] : []));
  const columns = mapped.shape.columns.map(({ column }) => column);
  const sides = await readSides(bench, mapped, meetings, columns);
  const rows: RowToWrite[] = [];
  const dropped: { readonly changeId: number; readonly columns: readonly string[] }[] = [];
  const refused: RefusedChange[] = [];
  const conflicts: Conflict[] = [];

  for (const [index, { key, image, waiting }] of meetings.entries()) {
    const side = sides[index];
    if (!side) throw new Error(`the row ${key} is gone although it is locked`);
    const shown = Object.fromEntries(Object.entries(side.image).filter(([column]) => column in image.values));
    const { conflictPolicy: policy } = mapped.shape;
    const result = merge({ policy, image: shown, stamp: image.systemModstamp, row: side.row, waiting });
    const spent = result.dropped.filter(({ isSpent }) => isSpent);
    dropped.push(...result.dropped.filter(({ isSpent }) => !isSpent));
    refused.push(...spent.map(({ changeId }) => ({ id: changeId, reason: overruled(result.collisions) })));
    conflicts.push(...result.collisions.map((collision) => ({ ...collision, sfid: image.sfid, recordId: key })));
    rows.push(rowOf(image, { key, values: result.write, waits: spent.length < waiting.length }));
  }
  return { rows, dropped, refused, conflicts };
}

const overruled = (collisions: readonly Collision[]) =>
  `CONFLICT: Salesforce changed the same fields, and wins [${collisions
    .filter(({ winner }) => winner === "salesforce")
    .map(({ column }) => column)
    .join(", ")}]`;

/** Rows that were deleted here while their record changed in Salesforce, and Salesforce wins. */
async function returningRows(bench: Workbench, mapped: MappedTable, judged: readonly Judged[]) {
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
    refused: back.map(({ deletion }) => ({
      id: deletion.id,
      reason: "CONFLICT: the record changed in Salesforce after its row was deleted; the row was restored",
    })),
  };
}
