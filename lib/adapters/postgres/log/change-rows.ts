import type { Action, ClaimedChange } from "../../../model/change/change.ts";
import { textLimit } from "../../../model/change/text-limit.ts";
import type { ColumnValues } from "../../../model/mapping/shape.ts";
import { literal, type MappedTable, name, qualified, type Row, readInstant } from "../session/sql.ts";

/**
 * A SELECT of the changes of a part of a WITH clause, with sfid and version of their row as it is now, in log order.
 * Earlier attempts of a carried change do not count. For transactions, whose settings say how instants are written.
 */
export function changesFrom(part: string, mapped: MappedTable): string {
  const { shape, layout } = mapped;
  const old = `CASE WHEN pg_column_size(l.old) > ${PACKED_LONG_BYTES} THEN ${upsertValueOf(mapped, "l.old")} ELSE l.old END`;
  return `SELECT l.id, l.action, l.record_id, ${old} AS old, ${sendable(mapped, 'l."values"')} AS "values",
      l.batch_id, l.confirmed, l.state, CASE WHEN l.state::text = 'FAILED' THEN 0 ELSE l.attempts END AS attempts,
      l.created_at AS captured_at, l.sent_at,
      CASE WHEN l.action::text = 'DELETE' THEN l.sfid ELSE coalesce(t.sfid, l.sfid) END AS sfid,
      t.xmin::text AS row_version
    FROM ${part} l LEFT JOIN ${qualified(shape.schema, shape.table)} t ON t.${name(layout.key)} = l.record_id
    ORDER BY l.id`;
}

/** A row of the log, or its JSON, as a claimed change. An INSERT leaves NULLs out. */
export function changeOf(row: Row): ClaimedChange {
  const action = row["action"] as Action;
  const values = (row["values"] ?? {}) as ColumnValues;
  const sentAt = (row["sent_at"] ?? null) as Date | string | null;
  return {
    id: Number(row["id"]),
    action,
    recordId: Number(row["record_id"]),
    sfid: (row["sfid"] as string | null) ?? null,
    old: (row["old"] ?? {}) as ColumnValues,
    values: action === "INSERT" ? withoutNulls(values) : values,
    attempts: Number(row["attempts"]),
    capturedAt: readInstant(row["captured_at"] as Date | string),
    ...(sentAt !== null && { sent: { at: readInstant(sentAt), batchId: String(row["batch_id"]) } }),
  };
}

function withoutNulls(values: ColumnValues): ColumnValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/** Of a change's old values the upsert value alone is needed to send it. */
function upsertValueOf({ shape }: MappedTable, old: string): string {
  const column = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  if (column === undefined) return "NULL::jsonb";
  return `CASE WHEN ${old} ? ${literal(column)} THEN jsonb_build_object(${literal(column)}, ${old} -> ${literal(column)}) END`;
}

/** The length of an object as it is, however it is packed: joined with an empty one it is itself, unpacked. */
export const unpacked = (object: string): string => `pg_column_size(${object} || '{}')`;

/**
 * A text of more bytes has, at four of UTF-8 each, more than twice as many characters as such a field takes (a long text
 * area), also without white space at its ends.
 */
const LONG_BYTES = 1_100_000;
const LIMIT_CHARACTERS = 131_072;

/** Nothing is packed into less than a 255th. */
const PACKED_LONG_BYTES = 4_000;

/**
 * A change's values as far as they can be sent: a text far beyond what its field takes is read cut, so that many of them
 * do not fill the memory. It stays too long (`isTooLong`): more than twice what fits, and white space at neither end.
 */
export function sendable({ shape }: MappedTable, values: string): string {
  const limits = shape.columns.flatMap((column) => {
    const limit = textLimit(column);
    return limit !== null && limit <= LIMIT_CHARACTERS ? [[column.column, limit] as const] : [];
  });
  if (limits.length === 0) return values;
  const limit = `(${literal(JSON.stringify(Object.fromEntries(limits)))}::jsonb -> key)::int`;
  return `CASE WHEN pg_column_size(${values}) > ${PACKED_LONG_BYTES} AND ${unpacked(values)} > ${LONG_BYTES} THEN (
      SELECT jsonb_object_agg(key, CASE WHEN ${limit} > 0 AND octet_length(value) > ${LONG_BYTES}
          AND left(value, 1000) ~ '\\S' AND right(value, 1000) ~ '\\S'
        THEN '.' || left(value, 2 * ${limit}) || '.' ELSE value END)
      FROM jsonb_each_text(${values})) ELSE ${values} END`;
}
