import type { Action, ClaimedChange } from "../../model/change.ts";
import type { ColumnValues } from "../../model/shape.ts";
import type { MappedTable } from "./layout.ts";
import type { Row } from "./session.ts";
import { name, qualified } from "./sql.ts";

/**
 * A SELECT of the changes of a part of a WITH clause, with the sfid of their row as it is now, in log order. What a
 * carried change was tried before does not count. For transactions, whose settings tell how instants are written.
 */
export function changesFrom(part: string, { shape, layout }: MappedTable): string {
  return `SELECT l.id, l.action, l.record_id, l.old, l."values", l.batch_id, l.confirmed, l.state,
      CASE WHEN l.state = 'FAILED' THEN 0 ELSE l.attempts END AS attempts,
      l.created_at AS captured_at, l.sent_at,
      CASE WHEN l.action = 'DELETE' THEN l.sfid ELSE coalesce(t.sfid, l.sfid) END AS sfid,
      t.sfid = l.sfid AS has_sfid
    FROM ${part} l LEFT JOIN ${qualified(shape.schema, shape.table)} t ON t.${name(layout.key)} = l.record_id
    ORDER BY l.id`;
}

/** A row of the log, or what JSON tells of one, as a claimed change. An INSERT tells no NULLs. */
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
    capturedAt: new Date(row["captured_at"] as Date | string),
    ...(sentAt !== null && { sent: { at: new Date(sentAt), batchId: String(row["batch_id"]) } }),
  };
}

function withoutNulls(values: ColumnValues): ColumnValues {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
