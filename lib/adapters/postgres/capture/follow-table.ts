import { pushes } from "../../../model/mapping/mapping.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { WriteUndone } from "../../../sync/ports/lease-ports.ts";
import type { LoadCheckpoint } from "../../../sync/ports/load-ports.ts";
import { isOfTable } from "../log/change-states.ts";
import {
  type Layout,
  literal,
  type MappedTable,
  mappedOf,
  metadata,
  name,
  qualified,
  type Row,
  type Session,
} from "../session/sql.ts";
import { type CatalogTable, layoutOf, readTable } from "./catalog.ts";
import { secureFunctions } from "./own-functions.ts";
import { captureFunctions } from "./trigger-functions.ts";

/** Provisioning holds the mapping's row for as long as it waits for the table. */
const LOCK_MILLISECONDS = 5_000;

/**
 * Follows what the application has done to a mapped table: creates the layout and the trigger functions again for the
 * columns, types and key of now. A column that was dropped and added again is filled from Salesforce. Takes no lock on
 * the table. Null where mapped columns are missing, or such a one holds values that nothing captured, which is noted in
 * the shape (`replaced`): then nothing else is changed, and `readCaptureOff` says which.
 */
export async function followTable(session: Session, schema: string, mappingId: string): Promise<Layout | null> {
  const { state, loads } = metadata(schema);
  const first = `SELECT shape, layout FROM ${state} WHERE mapping_id = ${literal(mappingId)} FOR NO KEY UPDATE`;
  return await session.transaction({ lockMilliseconds: LOCK_MILLISECONDS }, first, async ([row]) => {
    if (!row) return null;
    const [shape, before] = [row["shape"] as TableShape, row["layout"] as Layout];
    const table = await readTable(session, schema, shape.table);
    const key = table && keyOf(table, before);
    if (!table || !key || !hasAll(table, shape)) return null;
    if (table.digest === before.digest) return before; // another cycle of the mapping was faster
    const replaced = replacedColumns(shape, before, table);
    const isPushed = pushes(shape.direction);
    if (replaced.length > 0 && isPushed && (await holdValues(session, { shape, layout: before }, replaced))) {
      const note = `UPDATE ${state} SET shape = shape || jsonb_build_object('replaced', $2::jsonb) WHERE mapping_id = $1`;
      await session.query(note, [mappingId, JSON.stringify(replaced)]);
      return null;
    }
    const layout = layoutOf(table, key, before.captureVersion ?? 0);
    if (replaced.length > 0) {
      // What is being read at present knows nothing of it.
      await session.query(`UPDATE ${loads} SET fence = fence + 1, lease_until = NULL WHERE mapping_id = $1`, [
        mappingId,
      ]);
      await oweReading(session, shape);
    }
    if (isPushed) {
      await session.script(
        `${captureFunctions({ shape, layout }, table.columns)}\n${secureFunctions(schema, shape.table)}`,
      );
    }
    const keep = `UPDATE ${state} SET layout = $2, shape = shape - 'replaced'::text WHERE mapping_id = $1 RETURNING mapping_id`;
    if ((await session.query(keep, [mappingId, JSON.stringify(layout)])).length === 0) throw new WriteUndone(state);
    return layout;
  });
}

/** The mapped columns that the same table has under their names, and that are others than before. */
function replacedColumns({ columns }: TableShape, { attributes = {} }: Layout, table: CatalogTable): readonly string[] {
  const found = new Map(table.columns.map(({ column, attribute }) => [column, attribute]));
  const tableOf = (attribute: string | undefined) => attribute?.split(".")[0];
  return columns.flatMap(({ column }) => {
    const [was, is] = [attributes[column], found.get(column)];
    return was !== undefined && was !== is && tableOf(was) === tableOf(is) ? [column] : [];
  });
}

/** Whether columns of a mapped table, as it was known, were dropped and added again and hold nothing. */
export async function isEmptied(session: Session, known: Row | undefined, table: CatalogTable): Promise<boolean> {
  if (!known) return false;
  const { shape, layout } = mappedOf(known);
  const replaced = replacedColumns(shape, layout, table);
  return replaced.length > 0 && !(await holdValues(session, { shape, layout }, replaced));
}

/** Whether rows that have met their records hold values of these columns that no change is about to send. */
async function holdValues(
  session: Session,
  { shape, layout }: MappedTable,
  columns: readonly string[],
): Promise<boolean> {
  const { log } = metadata(shape.schema);
  const unsent = columns.map(
    (column) => `t.${name(column)} IS NOT NULL AND NOT EXISTS (
    SELECT FROM ${log} l WHERE ${isOfTable("l", literal(shape.table))} AND l.record_id = t.${name(layout.key)} AND l.processed_at IS NULL
      AND l."values" ? ${literal(column)})`,
  );
  const held = `SELECT FROM ${qualified(shape.schema, shape.table)} t WHERE t.sfid IS NOT NULL AND (${unsent.join(" OR ")}) LIMIT 1`;
  return (await session.query(held)).length > 0;
}

/** Everything is read again, from its beginning: after an ended first load as a backfill, beside the beat. */
export async function oweReading(session: Session, { schema, mappingId }: TableShape): Promise<void> {
  const { state, loads } = metadata(schema);
  const checkpoint: LoadCheckpoint = {
    kind: "backfill",
    startedAt: new Date(0),
    afterId: null,
    bulk: null,
    afterRow: null,
  };
  await session.query(
    `UPDATE ${loads} l SET load = CASE WHEN s.position IS NULL THEN NULL ELSE $2::jsonb END
     FROM ${state} s WHERE l.mapping_id = $1 AND s.mapping_id = $1`,
    [mappingId, JSON.stringify(checkpoint)],
  );
}

/** The key as it was; where the application has renamed it, the primary key. */
function keyOf(table: CatalogTable, { key }: Layout): string | null {
  return isInteger(table, key) ? key : integerKey(table);
}

/** The column that alone is the primary key of a table, and an integer; null: it has none. */
export function integerKey(table: CatalogTable): string | null {
  const [key, ...others] = table.primaryKey;
  return key !== undefined && others.length === 0 && isInteger(table, key) ? key : null;
}

const isInteger = ({ columns }: CatalogTable, name: string): boolean =>
  columns.some(({ column, type }) => column === name && ["smallint", "integer", "bigint"].includes(type));

function hasAll({ columns }: CatalogTable, shape: TableShape): boolean {
  const found = new Set(columns.map(({ column }) => column));
  return ["sfid", ...shape.columns.map(({ column }) => column)].every((column) => found.has(column));
}
