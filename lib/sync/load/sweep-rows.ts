import { insideWithIds } from "../../model/mapping/soql.ts";
import { sfidOf } from "../../model/record/incoming.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { OwnedRecord, QueryPage } from "../pull/pull-ports.ts";
import { applyPage, recordsOf, removeRows } from "../pull/read-page.ts";
import type { LoadCheckpoint } from "./load-ports.ts";

/** Rows looked for in the org by one call. */
const ROWS_AT_ONCE = 2_000;

/**
 * The second half of a sweep, or of a reading after the filter changed: looks in the org for the record of each row. The
 * row of what it says is deleted, or is outside of the filter now, leaves the table; what it does not know any more, or
 * does not show us any more, is told and left alone.
 */
export async function sweepRows(cycle: Cycle, mark: LoadCheckpoint): Promise<void> {
  let missing = 0;
  for (let afterRow = mark.afterRow ?? 0; ; ) {
    await cycle.hold.mayRead();
    const rows = await cycle.store.rowsAfter(cycle.lease, afterRow, ROWS_AT_ONCE);
    const last = rows.at(-1);
    if (!last) break;
    missing += await sweepSome(cycle, rows);
    afterRow = last.recordId;
    await commit(cycle, { ...mark, afterRow });
  }
  await commit(cycle, null);
  if (missing > 0) {
    cycle.tally.notes.push(
      `${missing} rows stand for records that Salesforce does not show us: deleted long ago, or our user may not see them`,
    );
  }
}

/** How many of the rows have a record that the org does not know. */
async function sweepSome(cycle: Cycle, rows: readonly OwnedRecord[]): Promise<number> {
  const ids = rows.map(({ sfid }) => sfid);
  const unknown = new Map(ids.map((sfid) => [sfid.slice(0, 15), sfid]));
  const forget = ({ records }: QueryPage) => {
    for (const record of records) unknown.delete(sfidOf(record).slice(0, 15));
  };
  if (cycle.shape.filter !== null) {
    for await (const page of recordsOf(cycle, ids, insideWithIds, ROWS_AT_ONCE)) forget(page);
  }
  // Of a filtered mapping these are few: the rows whose record was deleted, or is outside of the filter.
  for await (const page of recordsOf(cycle, [...unknown.values()])) {
    forget(page);
    const { true: deleted = [], false: living = [] } = Object.groupBy(page.records, isDeleted);
    if (deleted.length > 0) await applyPage(cycle, { ...page, records: deleted }, "reread", {});
    if (cycle.shape.filter !== null) await removeRows(cycle, { ...page, records: living });
  }
  return unknown.size;
}

const isDeleted = (record: QueryPage["records"][number]) => (record["IsDeleted"] === true ? "true" : "false");

async function commit({ store, lease, clock }: Cycle, load: LoadCheckpoint | null): Promise<void> {
  await store.apply(lease, { images: [], readAt: new Date(clock.now()), lane: "sweep", marks: { load } });
}
