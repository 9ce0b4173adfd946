import { type Lease, LeaseLost, type PushOutcome } from "../../sync/ports.ts";
import { fenced, type Workbench } from "./fence.ts";
import { writeOwedRows } from "./owed-rows.ts";
import { isWorthWaiting } from "./patience.ts";
import { type Taken, takeRead } from "./read-changes.ts";
import { oweStatement, settleStatement } from "./settle-statements.ts";
import { type SettledChanges, settledChanges } from "./settled-changes.ts";

interface HowClaimed {
  /** Those of the changes that were only read so far. */
  readonly taken: Taken | null;
  /** The claims and batches whose last changes these are. */
  readonly handled: readonly string[];
  /** By what an outcome's row is known again, if that change and no other waits of it. */
  readonly versionOf: (outcome: PushOutcome) => string | null;
}

/**
 * What Salesforce said, kept for good in one transaction: states, totals, events, when it answered, and what the rows
 * are to say of it. A row that somebody's transaction holds is written later; its result is safe in the log.
 *
 * Most rows are told by the statement that settles their changes: nobody has written them since all that waits of them was
 * claimed, so they have not changed again. The others are owed their result, and told by `writeOwedRows` in the same
 * transaction, which finds out. Most often nobody holds any of them, so none is asked: one that is held is waited for as
 * briefly as it may wait for us, and then all are tried again without those that are.
 */
export async function settle(
  bench: Workbench,
  lease: Lease,
  outcomes: readonly PushOutcome[],
  { taken, handled, versionOf }: HowClaimed,
): Promise<void> {
  if (outcomes.length === 0) return;
  const changes = settledChanges(outcomes, versionOf, bench.now());
  const attempt = (skipsHeld: boolean, limit: { readonly laterLockMilliseconds?: number } = {}) =>
    fenced(bench, lease, { silent: true, anyVersion: true, changesState: true, ...limit }, async () => {
      if (taken) await takeRead(bench, lease, taken);
      await settleChanges(bench, lease, changes, handled, skipsHeld);
    });
  try {
    await attempt(false, { laterLockMilliseconds: HELD_ROW_MILLISECONDS });
  } catch (error) {
    if (!isWorthWaiting(error)) throw error;
    await attempt(true);
  }
}

/** How long a row that somebody holds is waited for while we hold others. */
const HELD_ROW_MILLISECONDS = 10;

async function settleChanges(
  bench: Workbench,
  lease: Lease,
  { count, parameters }: SettledChanges,
  handled: readonly string[],
  skipsHeld: boolean,
): Promise<void> {
  const { session, tables, now } = bench;
  const mapped = bench.mapped(lease);
  const [settled] = await session.query<Settled>(settleStatement(tables, mapped, { skipsHeld }), [
    ...parameters,
    lease.fence,
    count,
    lease.mappingId,
    mapped.shape.table,
    mapped.shape.sfObject,
    now(),
    handled,
  ]);
  if (settled?.settled !== count) throw new LeaseLost(lease);
  const { untold } = settled;
  if (untold !== null) await session.query(oweStatement(tables), [untold]);
  if (settled.owed > 0 || untold !== null) await writeOwedRows(bench, mapped);
}

interface Settled {
  readonly settled: number;
  readonly owed: number;
  /** The changes that speak to rows which could not be told; null: all were. */
  readonly untold: readonly number[] | null;
}
