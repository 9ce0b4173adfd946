import type { ClaimedChange } from "../../model/change.ts";
import { type Lease, LeaseLost } from "../../sync/ports.ts";
import { changeOf, changesFrom } from "./claimed-changes.ts";
import { fenced, leaseTable, type Workbench } from "./fence.ts";
import { holdExcessDeletes } from "./held-changes.ts";
import type { MappedTable } from "./layout.ts";
import { writeOwedRows } from "./owed-rows.ts";
import type { Row } from "./session.ts";
import { literal } from "./sql.ts";

/** What one claim gave. */
interface Claimed {
  readonly changes: readonly ClaimedChange[];
  /** Up to this id of the log nothing is left that could be claimed now. */
  readonly upTo: number;
}

/**
 * NEW changes that are due, in log order, as PENDING, and with them what failed before on the same rows, since a newer
 * change of a record gives it another try (design section 6). A change that is in doubt, waits for its retry, is held,
 * or whose result its row was not told yet, holds back its row and later changes of the same sfid or upsert value, and
 * nothing else. The search begins behind `after`, so that a long backlog is not searched from its start each time.
 */
export async function claim(bench: Workbench, lease: Lease, limit: number, after: number): Promise<Claimed> {
  const { session, now } = bench;
  const mapped = bench.mapped(lease);
  const search = (from: number) =>
    session.query(claimStatement(bench, mapped), [mapped.shape.table, now(), limit, lease.fence, from]);
  return await fenced(bench, lease, { silent: true }, async () => {
    await writeOwedRows(bench, mapped);
    for (;;) {
      const behind = await search(after);
      const rows = behind.length === 0 && after > 0 ? await search(0) : behind;
      // What is held may hold back what was claimed with it, so all of it is looked for again.
      if (!(await holdExcessDeletes(bench, mapped, rows))) return claimedFrom(rows);
    }
  });
}

function claimedFrom(rows: readonly Row[]): Claimed {
  const chosen = rows.filter((row) => row["chosen"] === true).map((row) => Number(row["id"]));
  return { changes: rows.map(changeOf), upTo: Math.max(0, ...chosen) };
}

function claimStatement({ tables }: Workbench, mapped: MappedTable): string {
  const keys = (alias: string) => keysOf(alias, mapped);
  return `
    WITH blocked AS MATERIALIZED (
      SELECT coalesce(jsonb_object_agg(key, id), '{}') AS first_by_key FROM (
        SELECT key, min(b.id) AS id FROM ${tables.log} b CROSS JOIN LATERAL unnest(${keys("b")}) AS key
        WHERE b.table_name = $1 AND b.processed_at IS NULL AND (b.state = 'PENDING' OR b.due_at > $2 OR b.held)
          AND (b.state = 'PENDING' OR b.due_at IS NOT NULL OR b.held)
        GROUP BY key) AS firsts
    ), candidates AS (
      SELECT c.id, c.record_id FROM ${tables.log} c
      WHERE c.table_name = $1 AND c.processed_at IS NULL AND c.state = 'NEW' AND NOT c.held AND c.id > $5
        AND (c.due_at IS NULL OR c.due_at <= $2)
        AND NOT EXISTS (SELECT FROM ${tables.log} h WHERE h.table_name = $1 AND h.record_id = c.record_id
          AND h.processed_at IS NULL AND (h.state = 'PENDING' OR h.due_at > $2 OR h.held))
        AND NOT EXISTS (SELECT FROM unnest(${keys("c")}) AS key
          WHERE ((SELECT first_by_key FROM blocked) ->> key)::bigint < c.id)
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

/** By what changes of different rows can get in each other's way; Salesforce compares upsert values without case. */
function keysOf(alias: string, { shape }: MappedTable): string {
  const column = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  const keys = [`'id ' || left(${alias}.sfid, 15)`];
  for (const side of column === undefined ? [] : [`${alias}.old`, `${alias}."values"`]) {
    keys.push(`'key ' || lower(btrim(${side} ->> ${literal(column ?? "")}))`);
  }
  return `array_remove(ARRAY[${keys.join(", ")}], NULL)`;
}

/** Marks claimed changes as sent, just before the call; one round trip. */
export async function markSent(bench: Workbench, lease: Lease, batchId: string, ids: readonly number[]): Promise<void> {
  const rows = await bench.session.query(
    `WITH lease AS (
       SELECT FROM ${leaseTable(bench.tables, lease.work)} WHERE mapping_id = $1 AND fence = $2 AND config_version = $3
       FOR NO KEY UPDATE)
     UPDATE ${bench.tables.log} SET batch_id = $5, sent_at = $6
     WHERE id = ANY ($4::bigint[]) AND state = 'PENDING' AND fence = $2 AND EXISTS (SELECT FROM lease)
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
