import { sfidOf } from "../model/incoming.ts";
import type { Cycle } from "./cycle.ts";
import type { LoadMark, OwnedRecord, QueryPage } from "./ports.ts";
import { applyPage, recordsOf } from "./read-page.ts";

/** Rows looked for in the org by one call. */
const ROWS_AT_ONCE = 2_000;

/**
 * A sweep's second half: looks in the org for the record of each row. What it says is deleted is deleted here; what it
 * does not know any more, or does not show us any more, is told and left alone.
 */
export async function sweepRows(cycle: Cycle, mark: LoadMark): Promise<void> {
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
  const unknown = new Set(rows.map(({ sfid }) => sfid.slice(0, 15)));
  const ids = rows.map(({ sfid }) => sfid);
  for await (const page of recordsOf(cycle, ids)) {
    for (const record of page.records) unknown.delete(sfidOf(record).slice(0, 15));
    const deleted: QueryPage = { ...page, records: page.records.filter((record) => record["IsDeleted"] === true) };
    if (deleted.records.length > 0) await applyPage(cycle, deleted, "reread", {});
  }
  return unknown.size;
}

async function commit({ store, lease, clock }: Cycle, load: LoadMark | null): Promise<void> {
  await store.apply(lease, { images: [], readAt: new Date(clock.now()), lane: "sweep", marks: { load } });
}
