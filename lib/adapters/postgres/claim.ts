import type { Action, ClaimedChange } from "../../model/change.ts";
import type { ColumnValues } from "../../model/shape.ts";
import { type Doubt, type Lease, LeaseLost } from "../../sync/ports.ts";
import { fenced, iso, leaseTable, type Workbench } from "./fence.ts";
import type { MappedTable } from "./layout.ts";
import { writeOwedRows } from "./owed-rows.ts";
import type { Row } from "./session.ts";
import { name, qualified } from "./sql.ts";

/** What one claim gave. */
export interface Claimed {
  readonly changes: readonly ClaimedChange[];
  /** Up to this id of the log nothing is left that could be claimed now. */
  readonly upTo: number;
}

/**
 * NEW changes that are due, in log order, as PENDING, and with them what failed before on the same rows, since a newer
 * change of a record gives it another try (design section 6). A row with a change in doubt, one that waits for its
 * retry, or one whose last result is not written yet, holds back itself and nothing else. The search begins behind
 * `after`, so that a long backlog is not searched from its start each time.
 */
export async function claim(bench: Workbench, lease: Lease, limit: number, after: number): Promise<Claimed> {
  const { session, now } = bench;
  const mapped = bench.mapped(lease);
  return await fenced(bench, lease, { silent: true }, async () => {
    await writeOwedRows(bench, mapped);
    const table = mapped.shape.table;
    const search = (from: number) =>
      session.query(claimStatement(bench, mapped), [table, now(), limit, lease.fence, from]);
    const behind = await search(after);
    const rows = behind.length === 0 && after > 0 ? await search(0) : behind;
    const chosen = rows.filter((row) => row["chosen"] === true).map((row) => Number(row["id"]));
    return { changes: rows.map(changeOf), upTo: Math.max(0, ...chosen) };
  });
}

function claimStatement({ tables }: Workbench, mapped: MappedTable): string {
  return `
    WITH candidates AS (
      SELECT c.id, c.record_id FROM ${tables.log} c
      WHERE c.table_name = $1 AND c.processed_at IS NULL AND c.state = 'NEW' AND NOT c.held AND c.id > $5
        AND (c.due_at IS NULL OR c.due_at <= $2)
        AND NOT EXISTS (SELECT FROM ${tables.log} h WHERE h.table_name = $1 AND h.record_id = c.record_id
          AND h.processed_at IS NULL AND (h.state = 'PENDING' OR h.due_at > $2 OR h.held))
        AND NOT EXISTS (SELECT FROM ${tables.log} o WHERE o.table_name = $1 AND o.record_id = c.record_id AND o.row_owed)
      ORDER BY c.id LIMIT $3
    ), whole AS (
      SELECT w.id, w.record_id, w.state FROM ${tables.log} w
      WHERE w.table_name = $1 AND w.record_id IN (SELECT record_id FROM candidates) AND w.processed_at IS NULL
      UNION ALL
      SELECT f.id, f.record_id, f.state FROM ${tables.log} f
      WHERE f.table_name = $1 AND f.record_id IN (SELECT record_id FROM candidates) AND f.state = 'FAILED' AND NOT f.superseded
    ), locked AS (
      SELECT l.id, l.record_id FROM ${tables.log} l WHERE l.id IN (SELECT id FROM whole) FOR NO KEY UPDATE SKIP LOCKED
    ), complete AS (
      SELECT record_id FROM whole LEFT JOIN locked USING (id, record_id)
      GROUP BY record_id HAVING count(*) = count(locked.id)
    ), revived AS (
      UPDATE ${tables.totals} t SET failed = t.failed - again.count
      FROM (SELECT count(*) FROM whole JOIN complete USING (record_id) WHERE state = 'FAILED') AS again
      WHERE t.table_name = $1 AND again.count > 0
    ), claimed AS (
      UPDATE ${tables.log} l SET state = 'PENDING', fence = $4, batch_id = NULL, sent_at = NULL, updated_at = $2,
        processed_at = NULL, processed_tx = NULL, last_operation = NULL, due_at = NULL,
        attempts = CASE WHEN l.state = 'FAILED' THEN 0 ELSE l.attempts END
      FROM locked JOIN complete USING (record_id) WHERE l.id = locked.id
      RETURNING l.*
    )
    ${changesFrom("claimed", mapped, ", l.id IN (SELECT id FROM candidates) AS chosen")}`;
}

/** The changes of a part named `l`, with the sfid of their row as it is now. */
function changesFrom(part: string, { shape, layout }: MappedTable, more = ""): string {
  return `SELECT l.id, l.action, l.record_id, l.old, l."values", l.attempts, l.batch_id,
      ${iso("l.created_at")} AS captured_at, ${iso("l.sent_at")} AS sent_at,
      CASE WHEN l.action = 'DELETE' THEN l.sfid ELSE coalesce(t.sfid, l.sfid) END AS sfid${more}
    FROM ${part} l LEFT JOIN ${qualified(shape.schema, shape.table)} t ON t.${name(layout.key)} = l.record_id
    ORDER BY l.id`;
}

/** A row of the log as a claimed change. An INSERT tells no NULLs. */
export function changeOf(row: Row): ClaimedChange {
  const action = row["action"] as Action;
  const values = (row["values"] ?? {}) as ColumnValues;
  return {
    id: Number(row["id"]),
    action,
    recordId: Number(row["record_id"]),
    sfid: (row["sfid"] as string | null) ?? null,
    old: (row["old"] ?? {}) as ColumnValues,
    values: action === "INSERT" ? withoutNulls(values) : values,
    attempts: Number(row["attempts"]),
    capturedAt: new Date(String(row["captured_at"])),
  };
}

function withoutNulls(values: ColumnValues): ColumnValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/**
 * PENDING changes that cycles before this one left behind. Those that were never marked sent are NEW again; the others
 * become this cycle's, one doubt for each row's part of a batch. Rows that could not be told their result are told now.
 */
export async function recover(bench: Workbench, lease: Lease): Promise<Doubt[]> {
  const { session, tables, now } = bench;
  const mapped = bench.mapped(lease);
  return await fenced(bench, lease, { silent: true }, async () => {
    await writeOwedRows(bench, mapped);
    const rows = await session.query(
      `WITH unsent AS (
         UPDATE ${tables.log} l SET state = 'NEW', fence = NULL, updated_at = $3
         WHERE l.table_name = $1 AND l.processed_at IS NULL AND l.state = 'PENDING' AND l.fence <> $2 AND l.sent_at IS NULL
       ), doubtful AS (
         UPDATE ${tables.log} l SET fence = $2
         WHERE l.table_name = $1 AND l.processed_at IS NULL AND l.state = 'PENDING' AND l.sent_at IS NOT NULL
         RETURNING l.*
       )
       ${changesFrom("doubtful", mapped)}`,
      [mapped.shape.table, lease.fence, now()],
    );
    return doubtsOf(rows);
  });
}

function doubtsOf(rows: readonly Row[]): Doubt[] {
  const doubts = Map.groupBy(rows, (row) => `${row["batch_id"]} ${row["record_id"]}`);
  return [...doubts.values()].map((ofOne) => ({
    changes: ofOne.map(changeOf),
    sentAt: new Date(String(ofOne[0]?.["sent_at"])),
    batchId: String(ofOne[0]?.["batch_id"]),
  }));
}

/** Marks claimed changes as sent, just before the call; one round trip. */
export async function markSent(bench: Workbench, lease: Lease, batchId: string, ids: readonly number[]): Promise<void> {
  const rows = await bench.session.query(
    `WITH held AS (${heldLease(bench, lease)})
     UPDATE ${bench.tables.log} SET batch_id = $5, sent_at = $6
     WHERE id = ANY ($4::bigint[]) AND state = 'PENDING' AND fence = $2 AND EXISTS (SELECT FROM held)
     RETURNING id`,
    [lease.mappingId, lease.fence, lease.configVersion, ids, batchId, bench.now()],
  );
  if (rows.length < ids.length) throw new LeaseLost(lease);
}

/** Makes claimed changes NEW again that were not sent; one round trip. */
export async function release(bench: Workbench, lease: Lease, ids: readonly number[]): Promise<void> {
  await bench.session.query(
    `UPDATE ${bench.tables.log} SET state = 'NEW', fence = NULL, batch_id = NULL, sent_at = NULL, updated_at = $3
     WHERE id = ANY ($1::bigint[]) AND state = 'PENDING' AND fence = $2`,
    [ids, lease.fence, bench.now()],
  );
}

const heldLease = ({ tables }: Workbench, lease: Lease) =>
  `SELECT FROM ${leaseTable(tables, lease.work)} WHERE mapping_id = $1 AND fence = $2 AND config_version = $3
   FOR NO KEY UPDATE`;
