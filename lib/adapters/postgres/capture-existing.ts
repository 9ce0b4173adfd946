import type { TableShape } from "../../model/shape.ts";
import { wholeRow } from "./capture.ts";
import { hasFailed } from "./ended.ts";
import type { KeptSession } from "./kept-sessions.ts";
import type { Layout } from "./layout.ts";
import { unlessUnprovisioned } from "./lease.ts";
import { literal, metadata, name, qualified } from "./sql.ts";

/** Captures rows that no record stands for, as if they were inserted now; those that wait or failed already are left. */
export async function captureExisting(
  kept: KeptSession,
  schema: string,
  mappingId: string,
  limit: number,
): Promise<number> {
  const { state, log } = metadata(schema);
  const [row] = await unlessUnprovisioned(
    kept.query(`SELECT shape, layout FROM ${state} WHERE mapping_id = $1`, [mappingId]),
  );
  if (!row) return 0;
  const shape = row["shape"] as TableShape;
  const layout = row["layout"] as Layout;
  // A transaction of its own, whose zone and date style are those in which values are logged.
  const statement = captureStatement(log, shape, layout, limit);
  return await kept.transaction({}, statement, async (_, captured) => captured.length);
}

function captureStatement(log: string, shape: TableShape, layout: Layout, limit: number): string {
  const key = `t.${name(layout.key)}`;
  const columns = shape.columns.map(({ column }) => column);
  return `
    INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values")
    SELECT 'INSERT', ${literal(shape.table)}, ${key}, NULL, NULL, ${wholeRow(columns, layout, "t")}
    FROM ${qualified(shape.schema, shape.table)} t
    WHERE t.sfid IS NULL AND NOT EXISTS (
      SELECT FROM ${log} l WHERE l.table_name = ${literal(shape.table)} AND l.record_id = ${key}
        AND (l.processed_at IS NULL OR ${hasFailed("l")}))
    ORDER BY ${key} LIMIT ${limit}
    RETURNING id`;
}
