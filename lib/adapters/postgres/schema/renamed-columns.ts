import type { TableShape } from "../../../model/mapping/shape.ts";
import type { CatalogColumn, CatalogTable } from "../capture/catalog.ts";
import { mappedOf, metadata, type Session } from "../session/sql.ts";

/**
 * Columns that the mapping had and the application has renamed, under their mapped names. They are not added again, or they
 * could not get their names back; a cycle reports `column_gone`.
 */
export async function renamedColumns(
  session: Session,
  { schema, mappingId }: TableShape,
  { columns }: CatalogTable,
): Promise<readonly CatalogColumn[]> {
  const { state } = metadata(schema);
  const [own] = await session.query(`SELECT shape, layout FROM ${state} WHERE mapping_id = $1`, [mappingId]);
  if (!own) return [];
  const { shape, layout } = mappedOf(own);
  const { attributes = {} } = layout;
  const present = new Set(columns.map(({ column }) => column));
  return shape.columns.flatMap(({ column }) => {
    const now = columns.find(({ attribute }) => attribute === attributes[column]);
    return now === undefined || present.has(column) ? [] : [{ ...now, column }];
  });
}
