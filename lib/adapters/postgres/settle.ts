import { type Lease, LeaseLost, type PushOutcome } from "../../sync/ports.ts";
import { fenced, type Workbench } from "./fence.ts";
import { writeOwedRows } from "./owed-rows.ts";
import { type Taken, takeRead } from "./read-changes.ts";
import { lockStatement, settleStatement } from "./settle-statements.ts";
import { settledChanges } from "./settled-changes.ts";
import { numberArray } from "./sql.ts";

/**
 * What Salesforce said, kept for good in one transaction: states, totals, events, when it answered, and what the rows
 * are to say of it. A row that somebody's transaction holds is written later; its result is safe in the log.
 *
 * Most rows are told by the statement that settles their changes. Those that have changed again, or cannot get their
 * sfid as it is, are owed it, and told by `writeOwedRows` in the same transaction. `taken`: those of the changes that were
 * only read so far.
 */
export async function settle(
  bench: Workbench,
  lease: Lease,
  outcomes: readonly PushOutcome[],
  taken: Taken | null = null,
): Promise<void> {
  if (outcomes.length === 0) return;
  const { session, tables, now } = bench;
  const mapped = bench.mapped(lease);
  const { count, ids, parameters } = settledChanges(outcomes, now());
  await fenced(bench, lease, { silent: true, anyVersion: true, changesState: true }, async () => {
    if (taken) await takeRead(bench, lease, taken);
    const [locked] = await session.query<Locked>(lockStatement(tables, mapped), [ids, lease.fence]);
    if (locked?.changes !== count) throw new LeaseLost(lease);
    const statement = settleStatement(tables, mapped, locked.some_lack_sfid);
    const [settled] = await session.query<{ settled: number; owed: number }>(statement, [
      ...parameters,
      numberArray(withOneOutcome(locked.rows, outcomes)),
      lease.mappingId,
      mapped.shape.table,
      mapped.shape.sfObject,
      now(),
    ]);
    if (settled?.settled !== count) throw new LeaseLost(lease);
    if (settled.owed > 0) await writeOwedRows(bench, mapped);
  });
}

interface Locked {
  readonly changes: number;
  readonly rows: readonly number[];
  readonly some_lack_sfid: boolean;
}

/** One outcome may bring a row its sfid, and a later one its last word. */
function withOneOutcome(rows: readonly number[], outcomes: readonly PushOutcome[]): readonly number[] {
  const [once, more] = [new Set<number>(), new Set<number>()];
  for (const { recordId } of outcomes) (once.has(recordId) ? more : once).add(recordId);
  return more.size === 0 ? rows : rows.filter((row) => !more.has(row));
}
