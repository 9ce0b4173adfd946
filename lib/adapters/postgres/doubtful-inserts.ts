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
  const candidates = byRarestValue(sent, columns);
  const doubtful = images.filter((_, index) => {
    const image = shown[index]?.image ?? {};
    const some = columns.flatMap((column) => candidates.get(keyOf(column, image[column] ?? null)) ?? []);
    return [...some, ...(candidates.get(NOTHING_TOLD) ?? [])].some((values) => isOf(values, image));
  });
  return new Set(doubtful.map(({ sfid }) => sfid));
}

const NOTHING_TOLD = "";
const keyOf = (column: string, value: string | null) => `${column} ${value}`;

/**
 * Inserts by the one of their values that the fewest others have, so that each record is compared with few of them, also
 * while a job of the Bulk API has thousands under way.
 */
function byRarestValue(sent: readonly ColumnValues[], columns: readonly string[]): Map<string, ColumnValues[]> {
  const keysOf = (values: ColumnValues) =>
    columns
      .filter((column) => (values[column] ?? null) !== null)
      .map((column) => keyOf(column, values[column] ?? null));
  const counts = new Map<string, number>();
  for (const key of sent.flatMap(keysOf)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const groups = new Map<string, ColumnValues[]>();
  for (const values of sent) {
    const [rarest = NOTHING_TOLD] = keysOf(values).sort(
      (one, other) => (counts.get(one) ?? 0) - (counts.get(other) ?? 0),
    );
    const group = groups.get(rarest);
    if (group) group.push(values);
    else groups.set(rarest, [values]);
  }
  return groups;
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
