import type { StayingDelete } from "../../../settings/held-deletes/reject-ports.ts";
import { refusalOf } from "../session/savepoint.ts";
import { literal, type MappedTable, name, numberArray, qualified, type Session, typed } from "../session/sql.ts";
import { messageOf } from "../session/sql-errors.ts";

/** A logged delete of a row. */
export interface Held {
  readonly id: number;
  readonly record_id: number;
  readonly sfid: string | null;
}

/** Inserts deleted rows again as the log has them; answers those that a constraint or trigger refuses, found by halves. */
export async function insertAgain(
  session: Session,
  log: string,
  mapped: MappedTable,
  held: readonly Held[],
): Promise<readonly StayingDelete[]> {
  const [only] = held;
  if (!only) return [];
  const ids = numberArray(held.map(({ id }) => id));
  const refusal = await refusalOf(session, () => session.query(insertStatement(log, mapped), [ids]));
  if (refusal === null) return [];
  if (held.length === 1) {
    const { sfid, record_id } = only;
    return [{ deletes: "record", sfid, recordId: Number(record_id), reason: messageOf(refusal) }];
  }
  const middle = Math.ceil(held.length / 2);
  const first = await insertAgain(session, log, mapped, held.slice(0, middle));
  return [...first, ...(await insertAgain(session, log, mapped, held.slice(middle)))];
}

function insertStatement(log: string, { shape, layout }: MappedTable): string {
  const columns = shape.columns.map(({ column }) => column).filter((column) => !layout.generated.includes(column));
  const into = [layout.key, "sfid", "isdeleted", "_ab_lastop", ...columns];
  const values = columns.map((column) => typed(layout, column, `l.old ->> ${literal(column)}`));
  return `INSERT INTO ${qualified(shape.schema, shape.table)} (${into.map(name).join(", ")}) OVERRIDING SYSTEM VALUE
    SELECT ${["l.record_id", "l.sfid", "false", "'SYNCED'", ...values].join(", ")}
    FROM ${log} l WHERE l.id = ANY ($1::bigint[]) ORDER BY l.id`;
}
