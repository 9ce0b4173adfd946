import { nearest } from "../../../model/nearest.ts";
import type { RowWrite, WrittenRow } from "../../../settings/row-ports.ts";
import type { KeptSession } from "../session/request-session.ts";
import { refusalOf } from "../session/savepoint.ts";
import {
  literal,
  type MappedTable,
  mappedOf,
  metadata,
  name,
  qualified,
  type Row,
  type Session,
  textOf,
  typed,
} from "../session/sql.ts";
import { isLockRefused, isRefusedValue, messageOf, sqlState } from "../session/sql-errors.ts";

/** How long it waits for a row that a transaction of the application holds. */
const LOCK_MILLISECONDS = 3_000;

/** The row was written, and no trigger saw a change. */
class Uncaptured extends Error {}

/** Writes values into a row as its application would, for the triggers to capture in the actor's name. */
export async function writeRow(
  kept: KeptSession,
  schema: string,
  mappingId: string,
  asked: RowWrite,
): Promise<WrittenRow> {
  const { state, log } = metadata(schema);
  const first = `SELECT shape, layout, set_config('bridge.actor', ${literal(asked.actor)}, true)
    FROM ${state} WHERE mapping_id = ${literal(mappingId)}`;
  const write = async (session: Session, [found]: readonly Row[]): Promise<WrittenRow> => {
    if (!found) return { kind: "absent" };
    const mapped = mappedOf(found);
    const unknown = Object.keys(asked.values).find((column) =>
      mapped.shape.columns.every((of) => of.column !== column),
    );
    if (unknown !== undefined) return { kind: "refused", column: unknown, message: whyUnknown(mapped, unknown) };
    const before = await lockRow(session, mapped, asked);
    if (before === null) return { kind: "absent" };
    const { sfid, texts } = before;
    const locked = mapped.shape.columns.find(
      ({ column, createable, updateable }) =>
        Object.hasOwn(asked.values, column) &&
        (mapped.layout.generated.includes(column) || !(sfid === null ? createable : updateable)),
    );
    if (locked) return { kind: "refused", column: locked.column, message: `is read-only: ${locked.field} is not sent` };
    const moved = Object.entries(asked.was).find(([column, text]) => (texts[column] ?? null) !== text);
    if (moved) return { kind: "moved", column: moved[0] };

    let changeId = 0;
    const refusal = await refusalOf(
      session,
      async () => {
        await update(session, mapped, asked, Object.keys(asked.values));
        const [captured] = await session.query<{ id: number | null }>(
          `SELECT max(id) AS id FROM ${log} WHERE table_name::text = $1 AND record_id = $2::bigint AND processed_at IS NULL
             AND txid = txid_current()`,
          [mapped.shape.table, asked.recordId],
        );
        if (captured?.id == null) throw new Uncaptured();
        changeId = Number(captured.id);
      },
      (error) => error instanceof Uncaptured || isRefused(error),
    );
    if (refusal === null) return { kind: "written", changeId };
    if (refusal instanceof Uncaptured) return { kind: "uncaptured" };
    return { kind: "refused", column: await columnOf(session, mapped, asked, refusal), message: messageOf(refusal) };
  };
  return await kept.transaction({ lockMilliseconds: LOCK_MILLISECONDS }, first, write).catch((error: unknown) => {
    if (isLockRefused(error)) return { kind: "busy" };
    if (["42P01", "3F000"].includes(sqlState(error) ?? "")) return { kind: "absent" }; // there is no table yet
    throw error;
  });
}

const whyUnknown = ({ shape }: MappedTable, column: string): string => {
  const near = nearest(
    column,
    shape.columns.map((of) => of.column),
  );
  return `is no mapped column of ${shape.table}${near === undefined ? "" : `; the nearest is ${near}`}`;
};

/** What the row holds of these columns, locked against other writers; null: it is not there. */
async function lockRow(session: Session, { shape, layout }: MappedTable, { recordId, values }: RowWrite) {
  const texts = Object.keys(values).map((column) => `${literal(column)}, ${textOf(layout, column, "t")}`);
  const [row] = await session.query<{ sfid: string | null; texts: Record<string, string | null> }>(
    `SELECT t.sfid, jsonb_build_object(${texts.join(", ")}) AS texts FROM ${qualified(shape.schema, shape.table)} t
     WHERE t.${name(layout.key)} = $1::bigint FOR NO KEY UPDATE`,
    [recordId],
  );
  return row ?? null;
}

async function update(session: Session, mapped: MappedTable, asked: RowWrite, columns: readonly string[]) {
  const { shape, layout } = mapped;
  const set = columns.map((column, at) => `${name(column)} = ${typed(layout, column, `$${at + 2}::text`)}`);
  await session.query(
    `UPDATE ${qualified(shape.schema, shape.table)} t SET ${set.join(", ")} WHERE t.${name(layout.key)} = $1::bigint`,
    [asked.recordId, ...columns.map((column) => asked.values[column])],
  );
}

/** Also where the application has changed a column meanwhile, or keeps it from us. */
const isRefused = (error: unknown): boolean => isRefusedValue(error) || /^42/.test(sqlState(error) ?? "");

/** PostgreSQL names few columns: the one that is refused alone as well; null: they are refused together. */
async function columnOf(
  session: Session,
  mapped: MappedTable,
  asked: RowWrite,
  refusal: unknown,
): Promise<string | null> {
  const columns = Object.keys(asked.values);
  const [only] = columns;
  if (columns.length === 1 && only !== undefined) return only;
  for (const column of columns) {
    const alone = await refusalOf(
      session,
      async () => {
        await update(session, mapped, asked, [column]);
        throw new Uncaptured(); // undone: it was tried alone
      },
      (error) => error instanceof Uncaptured || isRefused(error),
    );
    if (!(alone instanceof Uncaptured) && messageOf(alone) === messageOf(refusal)) return column;
  }
  return null;
}
