import { IN_DOUBT } from "../../../model/change/in-doubt.ts";
import type { ChosenDeletes } from "../../../settings/held-deletes/reject-ports.ts";
import { BEGINNING, hasFailed, isHeld, isOfTable } from "../log/change-states.ts";
import { HELD_AT_ONCE } from "../log/delete-breaker.ts";
import { showWaiting } from "../push/requeue-overwritten.ts";
import type { KeptSession } from "../session/request-session.ts";
import { refusalOf } from "../session/savepoint.ts";
import { type Layout, literal, type Metadata, metadata, name, qualified, textOf, typed } from "../session/sql.ts";
import { messageOf } from "../session/sql-errors.ts";

/**
 * Lets deletes go that the breaker holds, on both sides, all or some, about as many as `most`, and says how many; the
 * next cycle carries them out. In parts that each commit: a million at once would take longer than a statement may.
 */
export async function confirmDeletes(
  kept: KeptSession,
  schema: string,
  mappingId: string,
  most: number,
  only: ChosenDeletes | null,
): Promise<number> {
  const tables = metadata(schema);
  let all = 0;
  for (let part = 1; part > 0 && all < most; all += part) {
    part = await confirmRows(kept, tables, mappingId, only?.sfids ?? null);
  }
  // Deletes held after this were not seen by the operator who confirms.
  const [held] = await kept.query(`SELECT max(l.id) AS last FROM ${heldOf(tables)}`, [mappingId]);
  const until = held?.["last"] as number | null | undefined;
  for (let after: number | null = BEGINNING; after !== null && until != null && all < most; ) {
    const part = await confirmRecords(kept, tables, mappingId, { after, until, only: only?.logIds ?? null });
    all += part.confirmed;
    after = part.last;
  }
  return all;
}

const heldOf = ({ state, log }: Metadata): string =>
  `${state} s JOIN ${log} l ON ${isOfTable("l", "s.table_name")} AND ${isHeld("l")} WHERE s.mapping_id = $1`;

async function confirmRows(
  kept: KeptSession,
  { heldDeletes }: Metadata,
  mappingId: string,
  only: readonly string[] | null,
): Promise<number> {
  const [rows] = await kept.query(
    `WITH rows AS (
       UPDATE ${heldDeletes} SET confirmed = true WHERE mapping_id = $1 AND NOT confirmed AND sfid::text = ANY (ARRAY(
         SELECT sfid::text FROM ${heldDeletes} WHERE mapping_id = $1 AND NOT confirmed
           AND ($2::text[] IS NULL OR sfid::text = ANY ($2)) LIMIT ${HELD_AT_ONCE}))
       RETURNING confirmed
     )
     SELECT count(*) AS confirmed FROM rows WHERE confirmed`,
    [mappingId, only],
  );
  return Number(rows?.["confirmed"] ?? 0);
}

async function confirmRecords(
  kept: KeptSession,
  tables: Metadata,
  mappingId: string,
  { after, until, only }: { after: number; until: number; only: readonly number[] | null },
): Promise<{ readonly confirmed: number; readonly last: number | null }> {
  const [records] = await kept.query(
    `WITH records AS (
       UPDATE ${tables.log} SET held = false, confirmed = true WHERE held AND id = ANY (ARRAY(
         SELECT l.id FROM ${heldOf(tables)} AND l.id > $2 AND l.id <= $3 AND ($4::bigint[] IS NULL OR l.id = ANY ($4))
         ORDER BY l.table_name, l.id LIMIT ${HELD_AT_ONCE}))
       RETURNING id
     )
     SELECT count(*) AS confirmed, max(id) AS last FROM records`,
    [mappingId, after, until, only],
  );
  return { confirmed: Number(records?.["confirmed"] ?? 0), last: (records?.["last"] as number | null) ?? null };
}

/** Makes FAILED changes NEW again, with what ended in doubt beside them, and says how many; not one that a newer change carries just now. */
export async function retryFailed(
  kept: KeptSession,
  schema: string,
  mappingId: string,
  logIds: readonly number[],
): Promise<number> {
  const tables = metadata(schema);
  const first = `SELECT table_name, layout FROM ${tables.state} WHERE mapping_id = ${literal(mappingId)}`;
  const [mapping] = await kept.query(first);
  if (!mapping) return 0;
  const { table_name: table, layout } = mapping as { readonly table_name: string; readonly layout: Layout };
  return await kept.transaction({ silence: table }, `${first} FOR NO KEY UPDATE`, async (session) => {
    const retried = await session.query<{ record_id: number }>(
      `WITH retried AS (
         UPDATE ${tables.log} l SET state = 'NEW', processed_at = NULL, processed_tx = NULL, last_operation = NULL,
           attempts = 0, due_at = NULL, superseded = false, row_owed = false
         WHERE l.table_name::text = $1 AND ${hasFailed("l")} AND l.fence IS NULL AND (l.id = ANY ($2::bigint[])
           -- What ended in doubt with it goes with it.
           OR starts_with(l.sf_message, $3) AND NOT l.superseded AND l.record_id IN (
             SELECT a.record_id FROM ${tables.log} a
             WHERE a.table_name::text = $1 AND a.id = ANY ($2::bigint[]) AND ${hasFailed("a")} AND starts_with(a.sf_message, $3)))
         RETURNING l.record_id
       ), totals AS (
         UPDATE ${tables.totals} SET failed = failed - (SELECT count(*) FROM retried) WHERE table_name::text = $1
       )
       SELECT record_id FROM retried`,
      [table, logIds, IN_DOUBT],
    );
    // Records that were held back because of inserts in doubt are read again before anything is sent.
    await session.query(
      `UPDATE ${tables.inboundErrors} SET retry_at = last_at WHERE mapping_id = $1 AND starts_with(error, $2)`,
      [mappingId, IN_DOUBT],
    );
    const show = showWaiting(qualified(schema, table), name(layout.key));
    // They are sent again, whatever their rows hold.
    await refusalOf(session, () => session.query(show, [retried.map(({ record_id }) => record_id)]));
    return retried.length;
  });
}

/** Writes what lost a conflict into its row, for the triggers to capture; null: done, else why not. */
export async function useOtherValue(kept: KeptSession, schema: string, conflictId: number): Promise<string | null> {
  const { conflicts, state } = metadata(schema);
  const found = `SELECT c.*, s.table_name, s.layout FROM ${conflicts} c JOIN ${state} s USING (mapping_id) WHERE c.id = ${conflictId}`;
  return await kept.transaction({}, found, async (session, [conflict]) => {
    if (!conflict) return "its mapping is gone";
    const { table_name, layout, field, winner } = conflict as Record<string, string> & { readonly layout: Layout };
    const column = String(field);
    const [other, won] = [conflict[winner === "postgres" ? "salesforce" : "postgres"], conflict[String(winner)]];
    const statement = `UPDATE ${qualified(schema, String(table_name))} t SET ${name(column)} = ${typed(layout, column, "$2::text")}
      WHERE t.${name(layout.key)} = $1 AND ${textOf(layout, column, "t")} IS NOT DISTINCT FROM $3::text RETURNING 1`;
    let rows = 0;
    const refusal = await refusalOf(session, async () => {
      rows = (await session.query(statement, [conflict["record_id"], other, won])).length;
    });
    if (refusal !== null) return messageOf(refusal);
    return rows > 0 ? null : "the row does not hold the value that won any more";
  });
}
