import { type Lease, LeaseLost, WriteUndone } from "../../../sync/ports/lease-ports.ts";
import type { PushOutcome } from "../../../sync/ports/push-ports.ts";
import { fenced } from "../lease/fence.ts";
import { type MappedTable, numberArray, type StoreContext } from "../session/sql.ts";
import { isRefusedValue, isWorthWaiting } from "../session/sql-errors.ts";
import { giveUp } from "./rewound.ts";
import { settleStatement, wakeChildrenStatement, writeBackStatement } from "./settle-statements.ts";
import { settledChanges } from "./settled-changes.ts";
import { writeBackRows } from "./write-back.ts";

interface HowClaimed {
  /** The claims whose last changes these are. */
  readonly handled: readonly string[];
  /** The version of an outcome's row when it was claimed, if those changes and no others waited of it. */
  readonly versionOf: (outcome: PushOutcome) => string | null;
}

/** How rows get their results with the statement that settles their changes: all, those that nothing holds, or none. */
type WriteBack = "all" | "free" | "none";

/**
 * Commits Salesforce's answers in one transaction: states, totals, events, when it answered, and what the rows show of
 * it. A row that another transaction holds is written later; its result is safe in the log. Most rows are written by
 * the statement that settles their changes: nothing has written them since all that waits of them was claimed. The
 * others are written by `writeBackRows` in the same transaction. Most often none of them is locked, so no lock is asked
 * for first: one that is held is waited for as briefly as it may wait for us, and then all are tried again without
 * those that are. Where a row refuses, by a trigger or a constraint of the customer's, all are left to the write-back,
 * and those that accept it are written.
 */
export async function settle(
  store: StoreContext,
  lease: Lease,
  outcomes: readonly PushOutcome[],
  claimed: HowClaimed,
): Promise<void> {
  if (outcomes.length === 0) return;
  const unwritten = store.refusedWriteBacks.rows;
  for (let writeBack: WriteBack | null = "all"; writeBack !== null; ) {
    try {
      await settleOnce(store, lease, outcomes, claimed, writeBack);
      break;
    } catch (error) {
      store.refusedWriteBacks.rows = unwritten; // rows that refused were not written after all
      writeBack = instead(writeBack, error);
      if (writeBack === null) throw error;
    }
  }
  for (const outcome of outcomes) if (outcome.kind === "refused") store.failedRows.add(outcome.recordId);
}

/** How to try again after such an error; null: not at all. */
function instead(writeBack: WriteBack, error: unknown): WriteBack | null {
  if (writeBack !== "none" && isRefusedValue(error)) return "none";
  return writeBack === "all" && isWorthWaiting(error) ? "free" : null;
}

/** How long a locked row is waited for while we hold others. */
const HELD_ROW_MILLISECONDS = 10;

async function settleOnce(
  store: StoreContext,
  lease: Lease,
  outcomes: readonly PushOutcome[],
  { handled, versionOf }: HowClaimed,
  writeBack: WriteBack,
): Promise<void> {
  const { session, tables, now } = store;
  const mapped = store.mapped(lease);
  const changes = settledChanges(outcomes, writeBack === "none" ? () => null : versionOf, now());
  const count = changes.length;
  const refused = outcomes.flatMap(({ kind, recordId }) => (kind === "refused" ? [recordId] : []));
  const statement = settleStatement(tables, mapped, {
    skipsHeld: writeBack === "free",
    keepsAttempts: outcomes.some(({ kind }) => kind !== "accepted"),
  });
  const values = {
    ...{ changes: JSON.stringify(changes), ids: numberArray(changes.map(({ id }) => id)) },
    ...{ mapping: lease.mappingId, table: mapped.shape.table, object: mapped.shape.sfObject },
    ...{ fence: lease.fence, count, handled, now: now() },
    failedRows: refused.filter((row) => store.failedRows.has(row)),
  };
  const limit = writeBack === "all" ? { laterLockMilliseconds: HELD_ROW_MILLISECONDS } : {};
  await fenced(store, lease, { silent: true, anyVersion: true, changesState: true, ...limit }, async () => {
    const [settled] = await session.query<Settled>(statement, values);
    if (settled?.settled !== count) throw await whyNot(store, lease, outcomes);
    await giveUp(store, lease, outcomes);
    const { pending, unwritten } = settled;
    if (settled.children_wait) await wakeChildren(store, mapped, outcomes);
    if (unwritten !== null) await session.query(writeBackStatement(tables), [unwritten]);
    if (pending === 0 && unwritten === null) return;
    // What a constraint has against the rows that are written already, before it is blamed on others.
    await session.script("SET CONSTRAINTS ALL IMMEDIATE");
    await writeBackRows(store, mapped);
  });
}

/** The lease is locked, and ours: changes that are, too, and were not settled were held back by a trigger. */
async function whyNot({ session, tables }: StoreContext, lease: Lease, outcomes: readonly PushOutcome[]) {
  const ours = `SELECT FROM ${tables.log} WHERE id = ANY ($1::bigint[]) AND state::text IN ('NEW', 'PENDING') AND coalesce(fence, $2) = $2 LIMIT 1`;
  const ids = outcomes.flatMap(({ changeIds }) => changeIds);
  const left = await session.query(ours, [numberArray(ids), lease.fence]);
  return left.length > 0 ? new WriteUndone(tables.log) : new LeaseLost(lease);
}

async function wakeChildren(
  { session, tables, now }: StoreContext,
  mapped: MappedTable,
  outcomes: readonly PushOutcome[],
) {
  const saved = outcomes.flatMap((outcome) =>
    outcome.kind === "accepted" && outcome.action !== "DELETE" ? outcome.changeIds : [],
  );
  if (saved.length > 0) await session.query(wakeChildrenStatement(tables, mapped), [saved, now()]);
}

interface Settled {
  /** Changes that were settled; fewer than were given where the lease is not ours any more. */
  readonly settled: number;
  readonly pending: number;
  /** The changes whose rows could not be written; null: all were. */
  readonly unwritten: readonly number[] | null;
  /** Some changes of the schema wait for their parents. */
  readonly children_wait: boolean;
}
