import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { LateSave } from "../../../sync/ports/push-ports.ts";
import { refusalOf } from "../session/savepoint.ts";
import { literal, name, qualified, type StoreContext } from "../session/sql.ts";

/**
 * Makes changes NEW again that were sent for the same rows, or records, after these saves had been claimed: the saves
 * came so late that they may have undone them. What they brought becomes what the newer changes started from, so that a
 * pull that meets it sees no change. A delete is sent again where a late upsert has created its record again and no row
 * owns it. A change that is under way is only counted. Rows that are not locked say that they wait, which also reaches
 * a cycle that has others of their changes under way. All this runs between the transactions of the cycle that has the
 * lease by now.
 */
export async function requeueOverwritten(
  { session, tables, mapped, now }: StoreContext,
  lease: Lease,
  saves: readonly LateSave[],
): Promise<{ readonly again: number; readonly underWay: number }> {
  const { shape, layout } = mapped(lease);
  const table = qualified(shape.schema, shape.table);
  const locked = `SELECT FROM ${tables.state} WHERE mapping_id = ${literal(lease.mappingId)} FOR NO KEY UPDATE`;
  return await session.transaction({ silence: shape.table }, locked, async () => {
    const [row] = await session.query<{ again: readonly string[]; under_way: number }>(
      `WITH late AS (
         SELECT s.record_id, s.last_id, s.sfid, sent.values
         FROM jsonb_to_recordset($1::jsonb) AS s (record_id bigint, last_id bigint, sfid text, change_ids jsonb,
           answered_at timestamptz)
         CROSS JOIN LATERAL (
           SELECT jsonb_object_agg(key, value ORDER BY c.id) AS values, bool_and(c.state::text = 'SUCCESS') AS are_settled
           FROM ${tables.log} c, jsonb_each(c."values")
           WHERE c.id IN (SELECT jsonb_array_elements_text(s.change_ids)::bigint)) sent
         WHERE sent.are_settled AND NOT EXISTS (SELECT FROM ${tables.pushed} p
           WHERE p.mapping_id = $4 AND p.answered_at > s.answered_at AND s.sfid::text = ANY (p.sfids))
       ), newer AS (
         SELECT DISTINCT ON (l.id) l.id, l.state, CASE WHEN l.action::text = 'DELETE' THEN late.sfid END AS sfid, late.values AS undone_by
         FROM late JOIN ${tables.log} l ON l.id > late.last_id AND l.table_name::text = $2
           AND (l.record_id = late.record_id OR l.sfid::text = late.sfid) AND l.state::text IN ('SUCCESS', 'PENDING')
         LEFT JOIN ${table} t ON t.${name(layout.key)} = l.record_id
         WHERE CASE WHEN l.action::text = 'DELETE'
           THEN l.sfid::text <> late.sfid AND NOT EXISTS (SELECT FROM ${table} o WHERE o.sfid::text = late.sfid)
           ELSE t.${name(layout.key)} IS NOT NULL AND l."values" ?| ARRAY(SELECT jsonb_object_keys(late.values)) END
       ), again AS (
         UPDATE ${tables.log} l SET state = 'NEW', sfid = coalesce(n.sfid, l.sfid),
           old = CASE WHEN l.action::text = 'DELETE' THEN l.old ELSE coalesce(l.old, '{}') || n.undone_by END, last_operation = NULL, sf_result = NULL,
           sf_message = 'sent again, because an older save came after it', processed_at = NULL, processed_tx = NULL,
           updated_at = $3, fence = NULL, batch_id = NULL, sent_at = NULL, due_at = NULL, row_owed = false
         FROM newer n WHERE l.id = n.id AND l.state::text = 'SUCCESS'
         RETURNING l.record_id
       ), totals AS (
         UPDATE ${tables.totals} t SET success = t.success - (SELECT count(*) FROM again) WHERE t.table_name::text = $2
       )
       SELECT (SELECT to_json(coalesce(array_agg(record_id::text), '{}')) FROM again) AS again, (SELECT count(*) FROM newer WHERE state::text = 'PENDING') AS under_way`,
      [
        JSON.stringify(
          saves.map(({ recordId, changeIds, sfid, answeredAt }) => ({
            record_id: recordId,
            last_id: Math.max(...changeIds),
            sfid,
            change_ids: changeIds,
            answered_at: answeredAt,
          })),
        ),
        shape.table,
        now(),
        shape.mappingId,
      ],
    );
    const again = row?.again ?? [];
    await refusalOf(session, () => session.query(showWaiting(table, name(layout.key)), [again]));
    return { again: again.length, underWay: Number(row?.under_way) };
  });
}

/** Shows on rows that no transaction holds that they wait. Parameter: keys. */
export const showWaiting = (table: string, key: string): string => `
  WITH free AS MATERIALIZED (
    SELECT t.${key} AS key FROM ${table} t WHERE t.${key} = ANY ($1::bigint[]) FOR UPDATE OF t SKIP LOCKED
  )
  UPDATE ${table} t SET _ab_lastop = 'PENDING', _ab_err = NULL FROM free WHERE t.${key} = free.key`;
