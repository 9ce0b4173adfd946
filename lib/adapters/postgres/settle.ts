import type { Action, LastOperation, State } from "../../model/change.ts";
import { type Lease, LeaseLost, type PushOutcome } from "../../sync/ports.ts";
import { fenced, type Workbench } from "./fence.ts";
import { writeOwedRows } from "./owed-rows.ts";
import type { Metadata } from "./sql.ts";

/**
 * What Salesforce said, kept for good in one transaction: states, totals, events, when it answered, and what the rows
 * are to say of it. A row that somebody's transaction holds is written later; its result is safe in the log.
 */
export async function settle(bench: Workbench, lease: Lease, outcomes: readonly PushOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  const { session, tables, now } = bench;
  const mapped = bench.mapped(lease);
  const settled = outcomes.flatMap((outcome) => settledChanges(outcome, now()));
  await fenced(bench, lease, { silent: true, anyVersion: true, changesState: true }, async () => {
    const [row] = await session.query<{ settled: number }>(settleStatement(tables), [
      JSON.stringify(settled),
      lease.fence,
      lease.mappingId,
      mapped.shape.table,
      mapped.shape.sfObject,
      now(),
    ]);
    if (row?.settled !== settled.length) throw new LeaseLost(lease);
    await writeOwedRows(bench, mapped);
  });
}

/** One row of the log as it is to be; names are those of the statement below. */
interface SettledChange {
  readonly id: number;
  readonly state: State;
  readonly last_operation: LastOperation | null;
  readonly message: string | null;
  readonly sfid: string | null;
  readonly answered_at: Date | null;
  readonly due_at: Date | null;
  readonly attempt: number;
  readonly accepted: boolean;
  /** The last change of its write: it speaks for the others on the row. */
  readonly speaks: boolean;
}

const DONE: Readonly<Record<Action, LastOperation>> = { INSERT: "INSERTED", UPDATE: "UPDATED", DELETE: "DELETED" };

function settledChanges(outcome: PushOutcome, now: Date): SettledChange[] {
  const last = Math.max(...outcome.changeIds);
  return outcome.changeIds.map((id) => ({ ...NOTHING, id, speaks: id === last, ...told(outcome, now) }));
}

const NOTHING = {
  last_operation: null,
  message: null,
  sfid: null,
  answered_at: null,
  due_at: null,
  attempt: 0,
  accepted: false,
};

function told(outcome: PushOutcome, now: Date): Partial<SettledChange> & { readonly state: State } {
  switch (outcome.kind) {
    case "accepted":
      return {
        state: "SUCCESS",
        last_operation: DONE[outcome.action],
        sfid: outcome.sfid,
        answered_at: outcome.answeredAt,
        accepted: true,
      };
    case "settled":
      return { state: "SUCCESS", last_operation: "SYNCED" };
    case "refused":
      return { state: "FAILED", last_operation: "FAILED", message: outcome.error };
    case "retry":
      return {
        state: "NEW",
        message: outcome.error,
        due_at: new Date(now.getTime() + outcome.afterSeconds * 1000),
        attempt: outcome.counts ? 1 : 0,
      };
  }
}

function settleStatement(tables: Metadata): string {
  return `
    WITH told AS (
      SELECT * FROM jsonb_to_recordset($1::jsonb) AS t (id bigint, state text, last_operation text, message text, sfid text,
        answered_at timestamptz, due_at timestamptz, attempt int, accepted boolean, speaks boolean)
    ), settled AS (
      UPDATE ${tables.log} l SET state = told.state, last_operation = told.last_operation, updated_at = $6,
        sf_message = told.message, sfid = coalesce(told.sfid, l.sfid), attempts = l.attempts + told.attempt,
        due_at = told.due_at,
        processed_at = CASE WHEN told.state <> 'NEW' THEN $6::timestamptz END,
        processed_tx = CASE WHEN told.state <> 'NEW' THEN txid_current() END,
        sf_result = CASE WHEN told.accepted THEN 1 WHEN told.state = 'FAILED' THEN 0 END,
        row_owed = told.speaks AND told.state <> 'NEW' AND l.action <> 'DELETE',
        confirmed = l.confirmed AND told.state = 'NEW', fence = NULL, batch_id = CASE WHEN told.state = 'NEW' THEN NULL ELSE l.batch_id END,
        sent_at = CASE WHEN told.state = 'NEW' THEN NULL ELSE l.sent_at END
      -- In a CASE, or a log without statistics seems to hold one such change, and each is looked for among all told.
      FROM told WHERE l.id = told.id AND CASE WHEN l.state = 'PENDING' THEN l.fence = $2 ELSE false END
      RETURNING l.id, l.record_id, l.action, l.state, l.sfid, l.sf_message, told.accepted, told.answered_at, told.speaks
    ), counted AS (
      SELECT count(*) AS all_of_them, count(*) FILTER (WHERE state = 'SUCCESS') AS success,
        count(*) FILTER (WHERE state = 'FAILED') AS failed, count(*) FILTER (WHERE accepted) AS accepted
      FROM settled
    ), totals AS (
      INSERT INTO ${tables.totals} AS t (table_name, success, failed) SELECT $4, success, failed FROM counted
      ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success, failed = t.failed + excluded.failed
    ), mapping AS (
      UPDATE ${tables.state} s SET rows_synced = s.rows_synced + counted.accepted,
        rows_failed = s.rows_failed + counted.failed, running_failed = s.running_failed + counted.failed
      FROM counted WHERE s.mapping_id = $3
    ), events AS (
      INSERT INTO ${tables.outbox} (event, occurred_at, detail)
      SELECT 'record.failed', $6, jsonb_build_object('trigger_log_id', id, 'mapping_id', $3::text, 'sf_object', $5::text,
        'table_name', $4::text, 'record_id', record_id, 'sfid', sfid, 'action', action, 'error', sf_message)
      FROM settled WHERE state = 'FAILED' ORDER BY id
    ), pushed AS (
      INSERT INTO ${tables.pushed} AS p (mapping_id, sfid, answered_at)
      SELECT $3, sfid, max(answered_at) FROM settled WHERE accepted AND sfid IS NOT NULL GROUP BY sfid
      ON CONFLICT (mapping_id, sfid) DO UPDATE SET answered_at = greatest(p.answered_at, excluded.answered_at)
    ), tombstones AS (
      INSERT INTO ${tables.tombstones} (mapping_id, sfid, record_id, reason, by_salesforce, stamp, deleted_at)
      SELECT $3, sfid, record_id, 'its row was deleted', false, answered_at, $6
      FROM settled WHERE accepted AND action = 'DELETE' AND speaks AND sfid IS NOT NULL
    )
    SELECT all_of_them AS settled FROM counted`;
}
