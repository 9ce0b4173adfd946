import type { PushOutcome } from "../../sync/cycle/ports.ts";
import type { KnownRow } from "./push/claim.ts";
import { DONE } from "./push/settled-changes.ts";
import type { MappedTable } from "./session/layout.ts";
import { type Metadata, name, numberArray, qualified } from "./session/sql.ts";

/** Saves that differ in nothing but their rows. As parameters: ids, rows, their versions, what was done, and when. */
export interface SavedAlike {
  readonly count: number;
  readonly parameters: readonly [
    ids: string,
    recordIds: string,
    versions: string,
    lastOperation: string,
    answeredAt: Date,
  ];
}

/**
 * Outcomes that are saves of one answer, each of one change whose row is known again and has its sfid already: what most
 * of a push comes to. Null: they are not.
 */
export function savedAlike(
  outcomes: readonly PushOutcome[],
  rowOf: (outcome: PushOutcome) => KnownRow | null,
): SavedAlike | null {
  const [first] = outcomes;
  if (first?.kind !== "accepted" || first.action === "DELETE") return null;
  const { action, answeredAt } = first;
  const [ids, recordIds]: [number[], number[]] = [[], []];
  const versions = new Set<string>();
  for (const outcome of outcomes) {
    const [id, ...others] = outcome.changeIds;
    const row = rowOf(outcome);
    if (outcome.kind !== "accepted" || id === undefined || others.length > 0 || row === null) return null;
    if (outcome.action !== action || outcome.answeredAt.getTime() !== answeredAt.getTime()) return null;
    if (row.sfid === null || row.sfid !== outcome.sfid) return null;
    ids.push(id);
    recordIds.push(outcome.recordId);
    versions.add(row.version);
  }
  const parameters = [
    numberArray(ids),
    numberArray(recordIds),
    `{${[...versions].join(",")}}`,
    DONE[action],
    answeredAt,
  ] as const;
  return { count: outcomes.length, parameters };
}

/**
 * What `settleStatement` does, where nothing is to be decided for each change: their rows are those that nobody has
 * written since, by key. Parameters: those of `savedAlike`, fence, count, mapping, table, time, claims and batches that
 * name no others.
 */
export function settleAlikeStatement(tables: Metadata, { shape, layout }: MappedTable): string {
  const key = name(layout.key);
  return `
    WITH settled AS (
      UPDATE ${tables.log} l SET state = 'SUCCESS', last_operation = $4, updated_at = $10, sf_message = NULL, due_at = NULL,
        processed_at = $10, processed_tx = txid_current(), sf_result = 1, row_owed = false, confirmed = false, fence = NULL
      WHERE l.id = ANY ((SELECT $1::bigint[])::bigint[]) AND CASE WHEN l.state = 'PENDING' THEN l.fence = $6 ELSE false END
      RETURNING l.id, l.record_id, l.sfid
    ), counted AS (
      SELECT count(*) AS all_of_them, array_agg(sfid) AS sfids FROM settled
    ), handled AS (
      DELETE FROM ${tables.inHand} WHERE id = ANY ($11::text[])
    ), totals AS (
      INSERT INTO ${tables.totals} AS t (table_name, success, failed) SELECT $9, all_of_them, 0 FROM counted
      ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success
    ), mapping AS (
      UPDATE ${tables.state} s SET rows_synced = s.rows_synced + all_of_them FROM counted WHERE s.mapping_id = $8
    ), pushed AS (
      INSERT INTO ${tables.pushed} (mapping_id, answered_at, sfids) SELECT $8, $5, sfids FROM counted
    ), written AS (
      -- Reads the count first, and so settles everything before any row is locked.
      UPDATE ${qualified(shape.schema, shape.table)} t SET _ab_lastop = $4, _ab_err = NULL
      WHERE (SELECT all_of_them FROM counted) = $7
        AND t.${key} = ANY ((SELECT $2::bigint[])::bigint[]) AND t.xmin = ANY ($3::xid[])
      RETURNING t.${key} AS key
    )
    SELECT all_of_them AS settled, 0 AS owed, CASE WHEN (SELECT count(*) FROM written) < all_of_them THEN (
        SELECT jsonb_agg(id) FROM settled WHERE record_id NOT IN (SELECT key FROM written)
      ) END AS untold
    FROM counted`;
}
