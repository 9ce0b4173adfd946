import { randomUUID } from "node:crypto";
import type { ClaimedChange } from "../../../model/change/change.ts";
import { type Lease, LeaseLost, type Renewal, WriteUndone } from "../../../sync/ports/lease-ports.ts";
import { fenced, IS_OURS, leaseTable, ofLease, renewal } from "../lease/fence.ts";
import { changeOf, changesFrom } from "../log/change-rows.ts";
import { BEGINNING, hasFailed, registerPending, UNCLAIMED_STATE, UNSORTED } from "../log/change-states.ts";
import { holdExcessDeletes } from "../log/delete-breaker.ts";
import { endedInDoubt } from "../pull/in-doubt-inserts.ts";
import { type MappedTable, numberArray, type Row, type StoreContext } from "../session/sql.ts";
import { claimStatement, type Found } from "./claim-candidates.ts";
import { lockRowsToWriteBack, writeLocked } from "./write-back.ts";

/** How much to claim at most, and behind which id to look for it. */
interface Wanted {
  readonly limit: number;
  readonly after: number;
}

/** What one claim gave, and behind which id the next one of the same lease looks. */
export interface Claimed {
  readonly changes: readonly ClaimedChange[];
  /** The row of `_bridge_in_hand` that names them. */
  readonly claimId: string;
  readonly next: number;
  /** Their rows by key: the transaction that had last written each when all that waits of it was claimed. */
  readonly versions: ReadonlyMap<number, string>;
}

/**
 * NEW changes that are due, in log order, as PENDING, and with them what failed before on the same rows: a newer change
 * carries it (`isCarried`), and so gives it another try; one whose insert ended in doubt stays sent, so that it is
 * looked up again instead of sent. A change that is in doubt, waits for its retry, is held, or whose result is not
 * written back yet, holds back its row and later changes of the same sfid or upsert value, and nothing else.
 *
 * A claim takes five round trips: its statement has one to itself, so that its plan is kept.
 */
export async function claim(store: StoreContext, lease: Lease, { limit, after: place }: Wanted): Promise<Claimed> {
  const { tables, session, now } = store;
  const mapped = store.mapped(lease);
  const then = [lockRowsToWriteBack(store, mapped)];

  return await fenced(store, lease, { silent: true, then }, async ([pending = []]) => {
    await writeLocked(store, mapped, pending);
    let [after, rounds] = [place, 0];
    for (;;) {
      const [[set] = []] = await session.script(UNSORTED);
      const asked = { now: now(), limit, after, bitmapscan: set?.["bitmapscan"] };
      const found = foundIn(await session.query(claimStatement(tables, mapped), asked));
      if (found.found === 0 && after > BEGINNING) {
        after = BEGINNING;
        continue;
      }
      const claimId = randomUUID();
      const taken = await take(store, lease, mapped, claimId, found.recordIds ?? []);
      if (rounds++ === MOST_ROUNDS || (await isUndone(store, claimId, found, taken))) throw new WriteUndone(tables.log);
      const excess = await holdExcessDeletes(store, mapped, claimId, taken);
      // Some deletes were too many and are held now, which may hold back what was claimed with them; all is NEW again.
      if (excess === "held") continue;
      // There may be more of them, and this claim has held enough: the next one continues.
      if (excess === "more") return { changes: [], claimId, next: BEGINNING, versions: new Map() };
      return { changes: taken.map(changeOf), claimId, next: placeAfter(found, limit), versions: versionsOf(taken) };
    }
  });
}

/** Rounds of one claim: each but the last holds deletes, all that it may. */
const MOST_ROUNDS = 100;

/** Whether changes were named and are not PENDING: the same would be found for ever. */
async function isUndone({ session, tables }: StoreContext, claimId: string, { found }: Found, taken: readonly Row[]) {
  if (taken.length > 0 || found === 0) return taken.some(({ state }) => state === "NEW");
  return (await session.query(`SELECT FROM ${tables.pendingRegistry} WHERE id = $1`, [claimId])).length > 0;
}

function versionsOf(rows: readonly Row[]): Map<number, string> {
  return new Map(
    rows.flatMap(({ record_id, row_version }) =>
      row_version === null ? [] : [[Number(record_id), String(row_version)] as const],
    ),
  );
}

function foundIn([row]: readonly Row[]): Found {
  if (!row) throw new Error("PostgreSQL returned no row of what can be claimed");
  return row["found"] as Found;
}

/** Where a claim was filled, the next one continues behind it instead of searching what is under way again. */
function placeAfter({ found, fit, last }: Found, limit: number): number {
  return last !== null && (fit < found || found === limit) ? last : BEGINNING;
}

/**
 * Makes all NEW changes of these rows PENDING, names them, and marks what failed before as carried; a row with a change
 * that is locked elsewhere is left out. One statement, so that a row's version is that of a moment when nothing else
 * waited of it.
 */
async function take(
  { session, tables, now }: StoreContext,
  lease: Lease,
  mapped: MappedTable,
  claimId: string,
  recordIds: readonly string[],
): Promise<readonly Row[]> {
  if (recordIds.length === 0) return [];
  // Row by row: for a list the planner may read all that waits of the table, where it knows nothing of the log yet.
  const ofRow = "table_name::text = :table AND record_id = k.record_id";
  return await session.query(
    `WITH whole AS MATERIALIZED (
       SELECT l.* FROM unnest(:rows::bigint[]) AS k (record_id) CROSS JOIN LATERAL (
         SELECT id, record_id FROM ${tables.log} WHERE ${ofRow} AND processed_at IS NULL AND state::text = 'NEW'
         UNION ALL
         SELECT id, record_id FROM ${tables.log} f WHERE ${ofRow} AND ${hasFailed("f")} AND NOT superseded
         OFFSET 0
       ) AS l
     ), locked AS MATERIALIZED (
       SELECT id FROM ${tables.log} WHERE id = ANY (ARRAY(SELECT id FROM whole)) FOR NO KEY UPDATE SKIP LOCKED
     ), torn AS MATERIALIZED (
       SELECT record_id FROM whole WHERE id = ANY (ARRAY(SELECT id FROM whole EXCEPT SELECT id FROM locked))
     ), ids AS MATERIALIZED (
       SELECT coalesce(array_agg(id), '{}') AS ids FROM whole WHERE record_id <> ALL (ARRAY(SELECT record_id FROM torn))
     ), named AS (
       ${registerPending(tables, { id: ":claim", table: ":table", ids: "(SELECT ids FROM ids)" })}
     ), claimed AS (
       UPDATE ${tables.log} l SET state = CASE WHEN l.state::text = 'NEW' THEN 'PENDING' ELSE l.state END, fence = :fence,
         updated_at = :now, due_at = NULL, held = false, last_operation = CASE WHEN l.state::text = 'FAILED' THEN l.last_operation END,
         batch_id = CASE WHEN ${endedInDoubt("l")} THEN l.batch_id END, sent_at = CASE WHEN ${endedInDoubt("l")} THEN l.sent_at END
       WHERE l.id = ANY ((SELECT ids FROM ids)::bigint[])
       RETURNING l.*
     )
     ${changesFrom("claimed", mapped)}`,
    { table: mapped.shape.table, fence: lease.fence, now: now(), rows: `{${recordIds.join(",")}}`, claim: claimId },
  );
}

interface Marked {
  readonly batchId: string;
  readonly ids: readonly number[];
  /** Null: the lease is not renewed. */
  readonly leaseSeconds: number | null;
}

/** Marks claimed changes as sent, just before the call; one round trip. */
export async function markSent(
  { session, tables, now }: StoreContext,
  lease: Lease,
  { batchId, ids, leaseSeconds }: Marked,
): Promise<Renewal> {
  const [row] = await session.query<{ marked: number; is_aborted: boolean | null }>(
    `WITH lease AS (${renewal(tables, lease)}), marked AS (
       UPDATE ${tables.log} SET batch_id = :batch, sent_at = :now
       WHERE id = ANY (:ids::bigint[]) AND state::text IN ('PENDING', 'FAILED') AND fence = :fence
         AND EXISTS (SELECT FROM lease WHERE NOT is_aborted)
       RETURNING id)
     SELECT (SELECT count(*) FROM marked) AS marked, (SELECT is_aborted FROM lease) AS is_aborted`,
    { ...ofLease(lease), seconds: leaseSeconds, ids: numberArray(ids), batch: batchId, now: now() },
  );
  if (row?.is_aborted) return "aborted";
  if (row?.marked !== ids.length) throw row?.is_aborted === false ? new WriteUndone(tables.log) : new LeaseLost(lease);
  return "held";
}

/**
 * Makes claimed changes NEW again that were not sent, while no other cycle has the lease; one round trip. `handled`:
 * the rows of `_bridge_in_hand` that name none but these.
 */
export async function release(
  store: StoreContext,
  lease: Lease,
  ids: readonly number[],
  handled: readonly string[],
): Promise<void> {
  await store.session.query(
    `WITH lease AS (
       SELECT FROM ${leaseTable(store.tables, lease.work)} WHERE mapping_id = :mapping AND ${IS_OURS} FOR NO KEY UPDATE
     ), handled AS (
       DELETE FROM ${store.tables.pendingRegistry} WHERE id = ANY (:handled::text[]) AND EXISTS (SELECT FROM lease)
     )
     UPDATE ${store.tables.log} SET state = ${UNCLAIMED_STATE}, fence = NULL, batch_id = NULL, sent_at = NULL, updated_at = :now
     WHERE id = ANY (:ids::bigint[]) AND state::text IN ('PENDING', 'FAILED') AND fence = :fence AND EXISTS (SELECT FROM lease)`,
    { ...ofLease(lease), ids, handled, now: store.now() },
  );
}
