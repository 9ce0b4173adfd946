import { IN_DOUBT } from "../../../model/change/in-doubt.ts";
import { pushes } from "../../../model/mapping/mapping.ts";
import { isMergeable } from "../../../model/mapping/soql.ts";
import { judge } from "../../../model/record/judge-image.ts";
import type { WaitingChange } from "../../../model/record/merge.ts";
import type { Image } from "../../../model/record/record.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { Applied, Page } from "../../../sync/ports/pull-ports.ts";
import { fenced } from "../lease/fence.ts";
import { movesPulls, writeWatermarks } from "../lease/watermarks.ts";
import { refuseChanges } from "../log/refuse-changes.ts";
import { type MappedTable, numberArray, type StoreContext } from "../session/sql.ts";
import { LOCK_NOT_AVAILABLE } from "../session/sql-errors.ts";
import { captureUncaptured, dropColumns, recordConflicts } from "./conflicts.ts";
import { copyableLines, copyLines } from "./copy-lines.ts";
import { deleteRows, dropHolds } from "./delete-rows.ts";
import { giveUpUpsertValues } from "./give-up-upsert-values.ts";
import { type HeldImages, imagesInDoubt, rowsInDoubt } from "./in-doubt-inserts.ts";
import { clearInboundErrors, writeInboundErrors } from "./inbound-errors.ts";
import { type Judged, mergeRows, returningRows } from "./merge-rows.ts";
import { type Around, isUntouched, type LockedRow, lockByUpsertField, lockRows, readAround } from "./page-context.ts";
import { rowOf } from "./row-to-write.ts";
import { insertRows, lateColumns, updateRows } from "./write-rows.ts";

/** How one try of a slice handles what blocks it. */
interface Attempt {
  /** Rows that a transaction of the customer holds are left for later instead of waited for. */
  readonly skipsLocked: boolean;
  /** Rows give up upsert values that other rows of the slice are to get, before any gets its own. */
  readonly makesRoom: boolean;
}

/** How long a page waits while it has locked no row. */
export const LOCK_MILLISECONDS = 2_000;

/**
 * How long it waits for a row that a transaction of the customer holds, while others wait for what it holds itself. It
 * gives way before PostgreSQL looks for deadlocks, after a second, and ends a transaction of the customer.
 */
const ROW_LOCK_MILLISECONDS = 100;

/** When a record whose row was held is read again. */
const BUSY_RETRY_SECONDS = 10;

/** When a record that may be an insert in doubt is read again: most are resolved after eleven minutes. */
const DOUBT_RETRY_SECONDS = 300;

/**
 * A slice of a page in one transaction of separate statements, because each sees what was committed before it began:
 * first the rows are locked, then what waits of them is read, then they are merged and written. A single statement would
 * judge on what it saw before it got its locks, and would lose a user's edit.
 */
export async function applyImages(store: StoreContext, lease: Lease, page: Page, attempt: Attempt): Promise<Applied> {
  return await fenced(store, lease, settingsFor(page), async () => {
    const applied = page.images.length === 0 ? null : await applyAll(store, lease, page, attempt);
    await writeWatermarks(store, lease, page.marks);
    return applied ?? NOTHING;
  });
}

function settingsFor(page: Page) {
  // A page of a load that is lost in a crash is lost with the marks behind it, and read again.
  const commitsLater = isLoading(page);
  const later = page.images.length > 0 && { laterLockMilliseconds: ROW_LOCK_MILLISECONDS };
  const limits = { lockMilliseconds: LOCK_MILLISECONDS, ...later };
  return { ...limits, silent: true, commitsLater, changesState: movesPulls(page.marks) };
}

/**
 * What most pages of a first load are: no record has a row, and nothing is known of any. Such a page locks no row, so it
 * is one transaction. Null: it is another page, and nothing was done.
 */
export async function applyFresh(store: StoreContext, lease: Lease, page: Page): Promise<Applied | null> {
  return await fenced(store, lease, settingsFor(page), async () => {
    const mapped = store.mapped(lease);
    const { rows } = await lockRows(store, mapped, page.images, "");
    if (rows.length > 0 || (await lockByUpsertField(store, mapped, page.images, "")).size > 0) return null;
    if (!isUntouched(await readAround(store, mapped, page, [], false))) return null;
    const applied = await insertAll(store, mapped, page.images);
    await writeWatermarks(store, lease, page.marks);
    return applied;
  });
}

/** Nothing had to be done. */
export const NOTHING: Applied = {
  inserted: 0,
  updated: 0,
  deleted: 0,
  unchanged: 0,
  reread: [],
  rejected: 0,
  busy: 0,
  conflicts: 0,
  heldDeletes: 0,
  suspects: null,
};

async function applyAll(
  store: StoreContext,
  lease: Lease,
  page: Page,
  { skipsLocked, makesRoom }: Attempt,
): Promise<Applied> {
  const bare = store.mapped(lease);
  const keepsHistory = page.keepsHistory === true && !isLoading(page);
  const mapped = { ...bare, keepsHistory };
  const { images } = page;
  const found = await lockAndRead(store, mapped, page, skipsLocked);
  const { busy, around } = found;
  if (found.isNew) return await insertAll(store, mapped, images);

  const known = found.rows.filter(({ sfid }) => sfid !== null && around.inboundErrors.includes(sfid));
  const linked = await rowsInDoubt(store, mapped, known);
  // Its row is there and only does not know; another one for the same record would be the customer's to clear up.
  const unwritten = images.filter(
    ({ sfid, isDeleted }) => !isDeleted && !busy.has(sfid) && around.unwritten.has(sfid) && found.rowOf(sfid) === null,
  );
  const passedOver = new Set([...busy, ...linked, ...unwritten.map(({ sfid }) => sfid)]);
  const judged = images
    .filter(({ sfid }) => !passedOver.has(sfid))
    .map((image) => judgeImage(mapped, page, image, found));

  const doubtful = await inDoubt(store, mapped, judged, around, page);
  const { awaiting, ...applied } = await carryOut(store, lease, mapped, judged, { doubtful, page, makesRoom });
  await releaseRecordless(store, around);
  await dropHolds(store, lease, around.heldDeletes, judged);
  await writeInboundErrors(store, lease, [
    ...[...busy].map((sfid) => busyRow(store, sfid)),
    ...applied.reread.map((sfid) => outdatedRow(store, sfid)),
    ...awaiting.map((sfid) => awaitingRow(store, sfid)),
    ...unwritten.map(({ sfid }) => unwrittenRow(store, sfid, around.unwritten.get(sfid) ?? null)),
    ...(doubtful.suspects?.sfids ?? []).map((sfid) => suspectRow(store, sfid)),
    ...(page.lane === "reread" ? [...linked] : []).map((sfid) => suspectRow(store, sfid)),
  ]);
  const stays = new Set([...passedOver, ...applied.reread, ...awaiting, ...doubtful.sfids]);
  const settled = around.inboundErrors.filter((sfid) => !stays.has(sfid));
  const deleted = images.filter(({ isDeleted }) => isDeleted).map(({ sfid }) => sfid);
  await clearInboundErrors(store, lease, settled, deleted);
  return { ...applied, rejected: busy.size, busy: busy.size };
}

/** The locked rows of a page, and what is known of them and of its records. */
interface Found {
  readonly rows: readonly LockedRow[];
  /** Ids of records whose rows another transaction holds. */
  readonly busy: ReadonlySet<string>;
  readonly around: Around;
  /** Ids of records that wait to be read again. */
  readonly heldBack: ReadonlySet<string>;
  /** Nothing is known of any record: all are inserted. */
  readonly isNew: boolean;
  /** The row of a record, by its id or by the value of the upsert field; null: it has none. */
  readonly rowOf: (sfid: string) => LockedRow | null;
}

async function lockAndRead(store: StoreContext, mapped: MappedTable, page: Page, skipsLocked: boolean): Promise<Found> {
  const { images } = page;
  const { rows, busy } = await lockRows(store, mapped, images, skipsLocked ? "FOR UPDATE SKIP LOCKED" : "FOR UPDATE");
  const bySfid = new Map(rows.map((row) => [row.sfid, row]));
  const rowless = images.filter(({ sfid, isDeleted }) => !isDeleted && !bySfid.has(sfid) && !busy.has(sfid));
  const byUpsert = await lockByUpsertField(store, mapped, rowless);
  const keys = [...rows, ...byUpsert.values()].map(({ key }) => key);
  const meetsFirst = isLoading(page) && rows.some(({ stamp }) => stamp === null);
  const around = await readAround(store, mapped, page, keys, meetsFirst);
  return {
    ...{ rows, busy, around, heldBack: new Set(around.inboundErrors) },
    isNew: keys.length + busy.size === 0 && isUntouched(around),
    rowOf: (sfid) => bySfid.get(sfid) ?? (around.deletionBySfid.has(sfid) ? null : (byUpsert.get(sfid) ?? null)),
  };
}

function judgeImage(mapped: MappedTable, page: Page, image: Image, { around, heldBack, rowOf }: Found): Judged {
  const row = rowOf(image.sfid);
  const verdict = judge({
    image,
    lane: page.lane,
    readAt: page.readAt,
    policy: mapped.shape.conflictPolicy,
    row: row && { ...row, isFirstMatch: isFirstMatch(row, image, page, around) },
    settledUntil: mapped.settledUntil ?? null,
    // A record that is held back may have been written by us meanwhile.
    capturesLate: pushes(mapped.shape.direction) && !heldBack.has(image.sfid),
    waiting: row ? waitingOf(around, row, image, page.lane) : [],
    deletion: around.deletionBySfid.get(image.sfid) ?? null,
    pushedAt: around.pushedLater.get(image.sfid) ?? null,
    deletedAt: around.tombstones.get(image.sfid) ?? null,
    mayBeMerged: isMergeable(mapped.shape),
  });
  return { image, verdict };
}

const isLoading = ({ lane }: Page): boolean => lane === "load";

/**
 * Whether the row has not met its record before: it was found by the upsert field, or was given its sfid by the
 * application, not by one of our pushes. A row whose accepted push has not written its sfid yet knows its record.
 */
function isFirstMatch({ sfid, stamp }: LockedRow, image: Image, page: Page, around: Around): boolean {
  if (sfid === null) return !around.unwritten.has(image.sfid);
  return isLoading(page) && stamp === null && !around.pushedBefore.has(sfid);
}

/**
 * What waits of a row. FAILED changes count as waiting beside a newer one, which carries them, and where the pull only
 * meets again what the row has already got; news of the record overwrite them.
 */
function waitingOf(around: Around, row: LockedRow, image: Image, lane: Page["lane"]): readonly WaitingChange[] {
  const waiting = around.waitingByKey.get(row.key) ?? [];
  const isKnown = !image.isDeleted && row.stamp !== null && image.systemModstamp <= row.stamp;
  const keepsFailed = (lane === "fast" || lane === "slow") && isKnown;
  return keepsFailed || waiting.some(({ isFailed }) => !isFailed) ? waiting : [];
}

/** New records that may be inserts of ours; mostly nothing is in doubt, and nothing is asked. */
async function inDoubt(
  store: StoreContext,
  mapped: MappedTable,
  judged: readonly Judged[],
  { hasSentInserts, inboundErrors }: Around,
  page: Page,
): Promise<HeldImages> {
  const fresh = judged.filter(({ verdict }) => verdict.kind === "insert").map(({ image }) => image);
  const failed = new Set(inboundErrors);
  const isConcerned = fresh.length > 0 && (hasSentInserts || fresh.some(({ sfid }) => failed.has(sfid)));
  return isConcerned ? await imagesInDoubt(store, mapped, fresh, page) : { sfids: new Set(), suspects: null };
}

/** What most pages of a first load are: no record has a row, and nothing is known of any. Each judgement would be the same. */
async function insertAll(store: StoreContext, mapped: MappedTable, images: readonly Image[]): Promise<Applied> {
  const living = images.filter(({ isDeleted }) => !isDeleted);
  const copyable = copyableLines(mapped, living);
  if (copyable) await copyLines(store, mapped, copyable);
  else await insertRows(store, mapped, living.map(newRow));
  return { ...NOTHING, inserted: living.length, unchanged: images.length - living.length };
}

const newRow = (image: Image) => rowOf(image, { key: null });

/** Changes of rows that have met their record wait for nothing else. */
async function releaseRecordless({ session, tables }: StoreContext, { waitingByKey }: Around): Promise<void> {
  const ids = [...waitingByKey.values()].flat().flatMap(({ id, isRecordless }) => (isRecordless ? [id] : []));
  if (ids.length > 0)
    await session.query(`UPDATE ${tables.log} SET held = false WHERE id = ANY ($1::bigint[])`, [numberArray(ids)]);
}

/** When a record is read again whose row a transaction of the customer had locked. */
export const busyUntil = ({ now }: StoreContext): Date => new Date(now().getTime() + BUSY_RETRY_SECONDS * 1000);

/** Why a record is no row yet, and when it is read again. */
const again = (sfid: string, retryAt: Date, error: string, sqlState: string | null = null) => ({
  sfid,
  error,
  sqlState,
  retryAt,
});

const BUSY = "the row is held by a transaction of yours; the record is read again as soon as it ends";
const busyRow = (store: StoreContext, sfid: string) => again(sfid, busyUntil(store), BUSY, LOCK_NOT_AVAILABLE);

/** Written down because the position moves on: a cycle that dies before it reads the record again must not forget it. */
const OUTDATED = "it was read before our last save of it; the record is read again";
const outdatedRow = (store: StoreContext, sfid: string) => again(sfid, store.now(), OUTDATED);

/** The position advances, and the answer may show a save that came before what was read. */
const AWAITING = "a change of its row is under way; the record is read again until that is answered";
const awaitingRow = (store: StoreContext, sfid: string) => again(sfid, busyUntil(store), AWAITING);

const UNWRITTEN = "its sfid is not written to its row yet; the record is read again once that is tried again";
const unwrittenRow = (store: StoreContext, sfid: string, askedAgain: Date | null) =>
  again(sfid, askedAgain ?? busyUntil(store), UNWRITTEN);

/** Also seen by a search for a record that has no row. */
const SUSPECT = `${IN_DOUBT}: it may be the record of a row whose insert got no answer; it is held until that change is retried`;
const suspectRow = (store: StoreContext, sfid: string) =>
  again(sfid, new Date(store.now().getTime() + DOUBT_RETRY_SECONDS * 1000), SUSPECT);

async function carryOut(
  store: StoreContext,
  lease: Lease,
  mapped: MappedTable,
  judged: readonly Judged[],
  { doubtful, page, makesRoom }: Pick<Attempt, "makesRoom"> & { readonly doubtful: HeldImages; readonly page: Page },
): Promise<Applied & { readonly awaiting: readonly string[] }> {
  const reread = judged.filter(({ verdict }) => verdict.kind === "reread").map(({ image }) => image.sfid);
  const deletions = judged.flatMap(({ image, verdict }) => (verdict.kind === "delete" ? [{ ...verdict, image }] : []));
  const { deleted, held } = await deleteRows(store, lease, mapped, deletions, page);

  const merged = await mergeRows(
    store,
    mapped,
    judged.filter((one) => !isSuspect(one)),
  );
  const returned = await returningRows(store, mapped, judged);
  const updates = judged.flatMap(({ image, verdict }) =>
    verdict.kind === "update" ? [rowOf(image, { key: verdict.key, isSure: verdict.isSure && !verdict.mayBeLate })] : [],
  );
  if (makesRoom) await giveUpUpsertValues(store, mapped, [...updates, ...merged.rows]);
  const differing = await updateRows(store, mapped, [...updates, ...merged.rows]);
  const suspects = judged.filter(isSuspect).flatMap(({ image, verdict }) => {
    if (verdict.kind === "merge") return [{ image, verdict }];
    const differs = verdict.kind === "update" && differing.delete(verdict.key);
    return differs
      ? [{ image, verdict: { kind: "merge", key: verdict.key, waiting: [], uncaptured: "late" } as const }]
      : [];
  });
  const unsure = updates.filter(({ key, isSure }) => !isSure && key !== null && differing.has(key));
  const meetings = suspects.map(({ image, verdict }) => ({ ...verdict, image }));
  const late = await mergeRows(store, mapped, suspects, await lateColumns(store, mapped, meetings, makesRoom));
  if (makesRoom) await giveUpUpsertValues(store, mapped, late.rows);
  for (const key of await updateRows(store, mapped, late.rows)) differing.add(key);

  const fresh = judged.filter(({ verdict }) => verdict.kind === "insert").map(({ image }) => image);
  const inserts = fresh.filter(({ sfid }) => !doubtful.sfids.has(sfid)).map(newRow);
  await insertRows(store, mapped, [...inserts, ...returned.rows]);

  await dropColumns(store, [...merged.dropped, ...late.dropped]);
  const overruled = await captureUncaptured(store, mapped, [...merged.captured, ...late.captured]);
  await refuseChanges(store, mapped, [...merged.refused, ...late.refused, ...returned.refused, ...overruled]);
  const conflicts = [...merged.conflicts, ...late.conflicts];
  await recordConflicts(store, lease, conflicts);

  const inserted = inserts.length + returned.rows.length;
  const changed = judged.filter(({ verdict }) => "key" in verdict && differing.has(verdict.key));
  const echoes = await countEchoes(store, mapped, page, changed);
  const updated = differing.size - unsure.length - echoes;
  const again = [...reread, ...unsure.map(({ sfid }) => sfid)];
  return {
    inserted,
    updated,
    deleted,
    reread: again,
    unchanged: judged.length - inserted - updated - deleted - held - again.length,
    rejected: 0,
    busy: 0,
    conflicts: conflicts.length,
    heldDeletes: held,
    suspects: doubtful.suspects,
    awaiting: [...merged.awaiting, ...late.awaiting],
  };
}

/** Records that only we have saved since: what differs is what Salesforce set at our own save, such as its defaults. */
async function countEchoes(
  { session, tables }: StoreContext,
  { shape }: MappedTable,
  page: Page,
  changed: readonly Judged[],
): Promise<number> {
  if (changed.length === 0 || isLoading(page) || !pushes(shape.direction)) return 0;
  const [row] = await session.query<{ echoes: number }>(
    `SELECT count(DISTINCT c.sfid)::int AS echoes FROM unnest($2::text[], $3::timestamptz[]) AS c (sfid, stamp)
     JOIN (SELECT unnest(sfids) AS sfid, answered_at FROM ${tables.pushed} WHERE mapping_id = $1
       AND answered_at >= (SELECT min(s) FROM unnest($3::timestamptz[]) s)) p ON p.sfid::text = c.sfid::text AND p.answered_at >= c.stamp`,
    [shape.mappingId, changed.map(({ image }) => image.sfid), changed.map(({ image }) => image.systemModstamp)],
  );
  return row?.echoes ?? 0;
}

/** Whether a row may hold what the application wrote without a trigger seeing it. */
const isSuspect = ({ verdict }: Judged): boolean =>
  (verdict.kind === "update" && verdict.mayBeLate) || (verdict.kind === "merge" && verdict.uncaptured === "late");
