import { type Lease, LeaseLost, type PushOutcome } from "../../sync/ports.ts";
import { fenced, type Workbench } from "./fence.ts";
import { writeOwedRows } from "./owed-rows.ts";
import { lockStatement, settleStatement } from "./settle-statements.ts";
import { settledChanges } from "./settled-changes.ts";
import { numberArray } from "./sql.ts";

/**
 * What Salesforce said, kept for good in one transaction: states, totals, events, when it answered, and what the rows
 * are to say of it. A row that somebody's transaction holds is written later; its result is safe in the log.
 *
 * Most rows are told by the statement that settles their changes. Those that are to get their sfid, or have changed again,
 * are owed it, and told by `writeOwedRows` in the same transaction.
 */
export async function settle(bench: Workbench, lease: Lease, outcomes: readonly PushOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  const { session, tables, now } = bench;
  const mapped = bench.mapped(lease);
  const { count, ids, parameters } = settledChanges(outcomes, now());
  await fenced(bench, lease, { silent: true, anyVersion: true, changesState: true }, async () => {
    const [locked] = await session.query<{ changes: number; rows: number[] }>(lockStatement(tables, mapped), [
      ids,
      lease.fence,
    ]);
    if (locked?.changes !== count) throw new LeaseLost(lease);
    const [settled] = await session.query<{ settled: number; owed: number }>(settleStatement(tables, mapped), [
      ...parameters,
      numberArray(locked.rows),
      lease.mappingId,
      mapped.shape.table,
      mapped.shape.sfObject,
      now(),
    ]);
    if (settled?.settled !== count) throw new LeaseLost(lease);
    if (settled.owed > 0) await writeOwedRows(bench, mapped);
  });
}
