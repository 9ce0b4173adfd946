import { decidedAs, REWOUND, UNSENT } from "../../../model/change/rewound.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { toCamelCase } from "../../../model/snake-case.ts";
import { type RestoredRows, restoredGroup } from "../../../settings/restore/restore-ports.ts";
import { isPending } from "../log/change-states.ts";
import { type Ask, literal, type Metadata, numberArray } from "../session/sql.ts";

/** Changes of each group that are shown. */
const SAMPLES = 5;

/** What waits for a person since a restore. */
export function restoredRows(ask: Ask, tables: Metadata): RestoredRows {
  const { log, state } = tables;
  const isUndecided = (table: string) =>
    `l.table_name::text = ${table} AND ${isPending(tables, "l", `table_name::text = ${table}`)} AND l.batch_id = ${literal(REWOUND)}`;
  return {
    restored: async () => {
      const rows = await ask(`
        SELECT s.mapping_id, s.config_version, s.shape, coalesce((
          SELECT jsonb_agg(g) FROM (
            SELECT split_part(l.sf_message, ':', 1) AS "group", count(DISTINCT l.record_id) AS rows,
              (jsonb_agg(jsonb_build_object('trigger_log_id', l.id, 'record_id', l.record_id, 'action', l.action, 'sfid', l.sfid,
                'message', l.sf_message) ORDER BY l.id) FILTER (WHERE l.place <= ${SAMPLES})) AS samples
            FROM (SELECT l.*, row_number() OVER (PARTITION BY split_part(l.sf_message, ':', 1) ORDER BY l.id) AS place
              FROM ${log} l WHERE ${isUndecided("s.table_name::text")}) l
            GROUP BY 1 ORDER BY 1) AS g), '[]') AS groups
        FROM ${state} s ORDER BY s.mapping_id`);
      return rows.map((row) => ({
        mappingId: String(row["mapping_id"]),
        version: Number(row["config_version"]),
        shape: row["shape"] as TableShape,
        groups: (row["groups"] as readonly unknown[]).map((group) => toCamelCase(restoredGroup, group)),
      }));
    },

    decide: async (mappingId, decisions, except) => {
      const given = decisions.map((one) => ({ ...one, batch: decidedAs(one.decision) }));
      // What is in no record cannot be taken from one.
      const rows = await ask(
        `UPDATE ${log} l SET batch_id = CASE WHEN starts_with(l.sf_message, 'only_here:') THEN ${literal(UNSENT)} ELSE d.batch END
         FROM jsonb_to_recordset($2::jsonb) AS d ("recordId" bigint, "group" text, batch text), ${state} s
         WHERE s.mapping_id = $1 AND ${isUndecided("s.table_name::text")} AND l.sf_message IS NOT NULL
           AND (l.record_id = d."recordId" OR split_part(l.sf_message, ':', 1) = d."group")
           AND NOT (d.batch = ${literal(decidedAs("salesforce"))} AND starts_with(l.sf_message, 'only_here:'))
           AND l.record_id <> ALL ($3::bigint[])
         RETURNING l.record_id`,
        [mappingId, JSON.stringify(given), numberArray(except)],
      );
      return new Set(rows.map((row) => row["record_id"])).size;
    },
  };
}
