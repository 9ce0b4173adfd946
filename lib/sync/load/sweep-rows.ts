import { insideWithIds, withIds } from "../../model/mapping/soql.ts";
import { sfidOf } from "../../model/record/incoming.ts";
import type { Cycle } from "../cycle/cycle.ts";
import { type LoadCheckpoint, MOST_IDS } from "../ports/load-ports.ts";
import type { QueryPage } from "../ports/pull-ports.ts";
import { applyPage, recordsOf, removeRows } from "../pull/read-page.ts";
import { deleteVanished, viewsAll } from "./vanished.ts";

/** Rows looked for in the org by one call. */
const ROWS_AT_ONCE = 2_000;

/**
 * The second half of a sweep, or of a reading after the filter changed: looks up the record of each row that the first
 * half has not met. A row leaves the table when the org says that its record is deleted or is outside of the filter
 * now. When the org does not know the record any more, or hides it from our user, an operator must confirm the delete,
 * after a sweep. `calls` counts those of the reading.
 */
export async function sweepRows(cycle: Cycle, begun: LoadCheckpoint, calls: () => number): Promise<void> {
  const checkpoint = begun.met ? await findUnmet(cycle, begun) : begun;
  const { lastRow, unmet: buckets = null } = checkpoint;
  let isSure: boolean | null = null;
  let [vanished, waiting]: [number, string[]] = [checkpoint.vanished ?? 0, []];
  const ids = [...(checkpoint.ids ?? [])];
  for (let afterRow = checkpoint.afterRow ?? 0; buckets?.length !== 0; ) {
    await cycle.hold.mayRead();
    const span = { afterRow, lastRow, buckets, limit: ROWS_AT_ONCE };
    const { sfids, looked } = await cycle.store.rowsAfter(cycle.lease, span);
    waiting.push(...sfids);
    if (looked !== null && waiting.length < ROWS_AT_ONCE) {
      afterRow = looked;
      continue;
    }
    const { gone, readAt } = await sweepSome(cycle, waiting);
    if (checkpoint.kind === "sweep" && readAt !== null && gone.length > 0) {
      isSure ??= await viewsAll(cycle);
      await deleteVanished(cycle, gone, readAt, isSure);
    }
    vanished += gone.length;
    ids.push(...gone.slice(0, MOST_IDS - ids.length));
    if (looked === null) break;
    [afterRow, waiting] = [looked, []];
    await commit(cycle, { ...checkpoint, afterRow, vanished, ids });
  }
  if (checkpoint.compared) {
    const { differing = 0, missing = 0, compared } = checkpoint;
    const found = { ...compared, differing, missing, vanished, ids, calls: calls(), at: new Date(cycle.clock.now()) };
    await cycle.store.keepComparison(cycle.lease, found, lastRow);
  }
  await commit(cycle, null);
  if (vanished > 0) {
    cycle.tally.notes.push(
      `${vanished} rows belong to records that Salesforce does not show us: deleted long ago, or our user may not see them`,
    );
  }
}

/** Where there are more, or fewer, rows than records that were met. Rows that equal ones were met of are left out. */
async function findUnmet(cycle: Cycle, { met: records = {}, ...checkpoint }: LoadCheckpoint): Promise<LoadCheckpoint> {
  const left = new Map(Object.entries(records));
  const met = Object.values(records).reduce((sum, some) => sum + some, 0);
  let rows = 0;
  for (let afterRow: number | null = 0; afterRow !== null; ) {
    await cycle.hold.mayRead();
    const counted = await cycle.store.countRows(cycle.lease, { afterRow, lastRow: checkpoint.lastRow });
    for (const [bucket, some] of Object.entries(counted.met)) {
      left.set(bucket, (left.get(bucket) ?? 0) - some);
      rows += some;
    }
    afterRow = counted.looked;
  }
  const unmet = [...left].filter(([, difference]) => difference !== 0).map(([bucket]) => bucket);
  const next = { ...checkpoint, unmet, compared: { rows, records: met + (checkpoint.missing ?? 0) } };
  await commit(cycle, next);
  return next;
}

/** Gives those whose records the org does not know, at its time; null: it was not asked. */
async function sweepSome(cycle: Cycle, ids: readonly string[]) {
  const unknown = new Map(ids.map((sfid) => [sfid.slice(0, 15), sfid]));
  const forget = ({ records }: QueryPage) => {
    for (const record of records) unknown.delete(sfidOf(record).slice(0, 15));
  };
  if (cycle.shape.filter !== null) {
    for await (const page of recordsOf(cycle, ids, insideWithIds, ROWS_AT_ONCE)) forget(page);
  }
  // Of a filtered mapping these are few: the rows whose record was deleted, or is outside of the filter.
  let readAt: Date | null = null;
  for await (const page of recordsOf(cycle, [...unknown.values()], idsAlone, ROWS_AT_ONCE)) {
    forget(page);
    readAt ??= page.readAt;
    const { true: deleted = [], false: living = [] } = Object.groupBy(page.records, isDeleted);
    if (deleted.length > 0) await applyPage(cycle, { ...page, records: deleted }, "reread", {});
    if (cycle.shape.filter !== null) await removeRows(cycle, { ...page, records: living });
  }
  return { gone: [...unknown.values()], readAt };
}

const idsAlone: typeof withIds = (shape, ids) => withIds({ ...shape, columns: [] }, ids);

const isDeleted = (record: QueryPage["records"][number]) => (record["IsDeleted"] === true ? "true" : "false");

async function commit({ store, lease, clock }: Cycle, load: LoadCheckpoint | null): Promise<void> {
  await store.apply(lease, { images: [], readAt: new Date(clock.now()), lane: "sweep", marks: { load } });
}
