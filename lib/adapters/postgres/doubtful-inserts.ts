import type { Image } from "../../model/record.ts";
import type { ColumnValues } from "../../model/shape.ts";
import type { Workbench } from "./fence.ts";
import type { MappedTable } from "./layout.ts";
import { readSides } from "./page-rows.ts";

/**
 * Records without a row that equal an insert of ours which is under way or in doubt: most likely they are it. They get
 * no row until that insert is settled, else it would have two.
 */
export async function imagesInDoubt(
  bench: Workbench,
  mapped: MappedTable,
  images: readonly Image[],
): Promise<ReadonlySet<string>> {
  if (images.length === 0) return new Set();
  const sent = await sentInserts(bench, mapped);
  // A parent's key may come back in another case than it was sent, and says little about the record.
  const telling = mapped.shape.columns.filter(({ createable, parent }) => createable && !parent);
  const columns = telling.map(({ column }) => column);
  const shown = await readSides(
    bench,
    mapped,
    images.map((image) => ({ key: null, image })),
    columns,
  );
  const doubtful = images.filter((_, index) => {
    const image = shown[index]?.image ?? {};
    return sent.some((values) => isOf(values, image));
  });
  return new Set(doubtful.map(({ sfid }) => sfid));
}

/** What each insert that was sent and not answered told Salesforce, later changes that were sent with it included. */
async function sentInserts({ session, tables }: Workbench, { shape }: MappedTable): Promise<ColumnValues[]> {
  const changes = await session.query<{ record_id: number; values: ColumnValues }>(
    `SELECT record_id, "values" FROM ${tables.log} l
     WHERE table_name = $1 AND processed_at IS NULL AND state = 'PENDING' AND sent_at IS NOT NULL AND action <> 'DELETE'
       AND EXISTS (SELECT FROM ${tables.log} i WHERE i.table_name = $1 AND i.record_id = l.record_id
         AND i.processed_at IS NULL AND i.state = 'PENDING' AND i.action = 'INSERT')
     ORDER BY id`,
    [shape.table],
  );
  const byRow = Map.groupBy(changes, ({ record_id }) => record_id);
  return [...byRow.values()].map((ofRow) => Object.assign({}, ...ofRow.map(({ values }) => values)) as ColumnValues);
}

/** Whether a record shows everything that was sent. */
function isOf(sent: ColumnValues, image: ColumnValues): boolean {
  return Object.entries(sent).every(
    ([column, value]) => value === null || !(column in image) || image[column] === value,
  );
}
