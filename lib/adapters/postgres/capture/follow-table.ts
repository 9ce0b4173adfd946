import { pushes } from "../../../model/mapping/mapping.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { WriteUndone } from "../../../sync/lease/lease-ports.ts";
import { type Layout, literal, metadata, type Session } from "../session/sql.ts";
import { type CatalogTable, layoutOf, readTable } from "./catalog.ts";
import { secureFunctions } from "./own-functions.ts";
import { captureFunctions } from "./trigger-functions.ts";

/** Provisioning holds the mapping's row for as long as it waits for the table. */
const LOCK_MILLISECONDS = 5_000;

/**
 * Follows what the application has done to a mapped table: creates the layout and the trigger functions again for the
 * columns, types and key of now. Takes no lock on the table. Null where mapped columns are missing: then nothing is
 * changed, and `readCaptureOff` says which.
 */
export async function followTable(session: Session, schema: string, mappingId: string): Promise<Layout | null> {
  const { state } = metadata(schema);
  const first = `SELECT shape, layout FROM ${state} WHERE mapping_id = ${literal(mappingId)} FOR NO KEY UPDATE`;
  return await session.transaction({ lockMilliseconds: LOCK_MILLISECONDS }, first, async ([row]) => {
    if (!row) return null;
    const [shape, before] = [row["shape"] as TableShape, row["layout"] as Layout];
    const table = await readTable(session, schema, shape.table);
    const key = table && keyOf(table, before);
    if (!table || !key || !hasAll(table, shape)) return null;
    if (table.digest === before.digest) return before; // another cycle of the mapping was faster
    const layout = layoutOf(table, key, before.captureVersion ?? 0);
    if (pushes(shape.direction)) {
      await session.script(
        `${captureFunctions({ shape, layout }, table.columns)}\n${secureFunctions(schema, shape.table)}`,
      );
    }
    const keep = `UPDATE ${state} SET layout = $2 WHERE mapping_id = $1 RETURNING mapping_id`;
    if ((await session.query(keep, [mappingId, JSON.stringify(layout)])).length === 0) throw new WriteUndone(state);
    return layout;
  });
}

/** The key as it was; where the application has renamed it, the primary key. */
function keyOf({ columns, primaryKey }: CatalogTable, { key }: Layout): string | null {
  const isKey = (one: string) => columns.some(({ column, type }) => column === one && INTEGERS.includes(type));
  if (isKey(key)) return key;
  const [first, ...others] = primaryKey;
  return first !== undefined && others.length === 0 && isKey(first) ? first : null;
}

/** The types that a key may have. */
export const INTEGERS = ["smallint", "integer", "bigint"];

function hasAll({ columns }: CatalogTable, shape: TableShape): boolean {
  const found = new Set(columns.map(({ column }) => column));
  return ["sfid", ...shape.columns.map(({ column }) => column)].every((column) => found.has(column));
}
