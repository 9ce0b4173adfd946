import { type Lease, LeaseLost, type PushOutcome } from "../../../sync/cycle/ports.ts";
import { fenced, type Workbench } from "../lease/fence.ts";
import { type Taken, takeRead } from "../read-changes.ts";
import { type SavedAlike, savedAlike, settleAlikeStatement } from "../saved-alike.ts";
import { isRefusedValue, isWorthWaiting } from "../session/sql-errors.ts";
import type { KnownRow } from "./claim.ts";
import { oweStatement, settleStatement } from "./settle-statements.ts";
import { type SettledChanges, settledChanges } from "./settled-changes.ts";
import { writeOwedRows } from "./write-back.ts";

interface HowClaimed {
  /** Those of the changes that were only read so far. */
  readonly taken: Taken | null;
  /** The claims and batches whose last changes these are. */
  readonly handled: readonly string[];
  /** An outcome's row as it was when it was claimed, if those changes and no others waited of it. */
  readonly rowOf: (outcome: PushOutcome) => KnownRow | null;
}

/**
 * What Salesforce said, kept for good in one transaction: states, totals, events, when it answered, and what the rows
 * are to say of it. A row that somebody's transaction holds is written later; its result is safe in the log.
 *
 * Most rows are told by the statement that settles their changes: nobody has written them since all that waits of them was
 * claimed, so they have not changed again. The others are owed their result, and told by `writeOwedRows` in the same
 * transaction, which finds out. Most often nobody holds any of them, so none is asked: one that is held is waited for as
 * briefly as it may wait for us, and then all are tried again without those that are. And where a row refuses, by a trigger
 * or a constraint of the customer's, all are owed their result, and those that take it are told.
 */
export async function settle(
  bench: Workbench,
  lease: Lease,
  outcomes: readonly PushOutcome[],
  { taken, handled, rowOf }: HowClaimed,
): Promise<void> {
  if (outcomes.length === 0) return;
  const untold = bench.untold.rows;
  const alike = savedAlike(outcomes, rowOf);
  const refused = outcomes.filter(({ kind }) => kind === "refused");
  const failedBefore = refused.map(({ recordId }) => recordId).filter((row) => bench.failedRows.has(row));
  const settleAll = (skipsHeld: boolean, known = rowOf) =>
    settleChanges(bench, lease, settledChanges(outcomes, known, bench.now()), handled, failedBefore, skipsHeld);
  const attempt = (work: () => Promise<void>, limit: { readonly laterLockMilliseconds?: number } = {}) =>
    fenced(bench, lease, { silent: true, anyVersion: true, changesState: true, ...limit }, async () => {
      if (taken) await takeRead(bench, lease, taken);
      await work();
    }).catch((error: unknown) => {
      bench.untold.rows = untold; // whatever refused was told nothing for good
      throw error;
    });
  const once = () =>
    attempt(() => (alike ? settleAlike(bench, lease, alike, handled) : settleAll(false)), {
      laterLockMilliseconds: HELD_ROW_MILLISECONDS,
    });
  const withoutHeld = () => unless(isWorthWaiting, once, () => attempt(() => settleAll(true)));
  await unless(isRefusedValue, withoutHeld, () => attempt(() => settleAll(false, () => null)));
  for (const { recordId } of refused) bench.failedRows.add(recordId);
}

/** Does other work instead, where work ends with such an error. */
async function unless(
  isSuch: (error: unknown) => boolean,
  work: () => Promise<void>,
  instead: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isSuch(error)) throw error;
    await instead();
  }
}

/** How long a row that somebody holds is waited for while we hold others. */
const HELD_ROW_MILLISECONDS = 10;

async function settleChanges(
  bench: Workbench,
  lease: Lease,
  { count, parameters }: SettledChanges,
  handled: readonly string[],
  failedBefore: readonly number[],
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
    failedBefore,
  ]);
  await tellLater(bench, lease, count, settled);
}

/** The same, faster, for what most of a push comes to. */
async function settleAlike(
  bench: Workbench,
  lease: Lease,
  { count, parameters }: SavedAlike,
  handled: readonly string[],
): Promise<void> {
  const { session, tables, now } = bench;
  const mapped = bench.mapped(lease);
  const [settled] = await session.query<Settled>(settleAlikeStatement(tables, mapped), [
    ...parameters,
    lease.fence,
    count,
    lease.mappingId,
    mapped.shape.table,
    now(),
    handled,
  ]);
  await tellLater(bench, lease, count, settled);
}

/** Tells the rows that the statement did not tell, which has settled everything if this lease is still ours. */
async function tellLater(bench: Workbench, lease: Lease, count: number, settled: Settled | undefined): Promise<void> {
  if (settled?.settled !== count) throw new LeaseLost(lease);
  const { owed, untold } = settled;
  if (untold !== null) await bench.session.query(oweStatement(bench.tables), [untold]);
  if (owed === 0 && untold === null) return;
  // What a constraint has against the rows that were told already, before it is taken for what it has against others.
  await bench.session.script("SET CONSTRAINTS ALL IMMEDIATE");
  await writeOwedRows(bench, bench.mapped(lease));
}

interface Settled {
  readonly settled: number;
  readonly owed: number;
  /** The changes that speak to rows which could not be told; null: all were. */
  readonly untold: readonly number[] | null;
}
