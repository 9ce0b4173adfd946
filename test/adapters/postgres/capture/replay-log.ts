import { expect } from "vitest";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import type { Customer } from "../customer.ts";

/** A contact of three texts. */
export const SHAPE = contactShape({ columns: ["Email", "LastName", "Title"].map((one) => column(one)) });
const COLUMNS = SHAPE.columns.map((one) => one.column);

type Values = Readonly<Record<string, string | null>>;
type Rows = ReadonlyMap<number, Values>;

interface Change {
  readonly action: string;
  readonly record_id: number;
  readonly old: Values | null;
  readonly values: Values | null;
}

/** The columns of all rows, as texts, by key. */
export async function readRows({ sql }: Customer): Promise<Rows> {
  const rows = await sql("SELECT id::int AS key, to_jsonb(t) AS content FROM salesforce.contact t ORDER BY 1");
  return new Map(rows.map(({ key, content }) => [Number(key), content as Values]));
}

/** The log, in the order of its ids. */
export const readLog = async ({ sql }: Customer) =>
  (await sql(
    `SELECT action, record_id::int, old, "values" FROM salesforce._trigger_log WHERE table_name = 'contact' ORDER BY id`,
  )) as unknown as readonly Change[];

/** The log gives the rows, and each change of it meets the row as it says. */
export async function expectInOrder(customer: Customer, before: Rows): Promise<void> {
  const { rows, faults } = replay(before, await readLog(customer));
  expect({ faults, rows: only(rows) }).toEqual({ faults: [], rows: only(await readRows(customer)) });
}

/**
 * The rows that the log makes of those of before, in the columns that it has. Each change must meet the row as its `old`
 * says, a row that is inserted must not be there, and one that is changed or deleted must be: `faults` says where not.
 */
export function replay(
  before: Rows,
  log: readonly Change[],
): { readonly rows: Rows; readonly faults: readonly string[] } {
  const rows = new Map(before);
  const faults: string[] = [];
  for (const [index, { action, record_id: key, old, values }] of log.entries()) {
    const row = rows.get(key);
    const where = `change ${index + 1}, ${action} of ${key}`;
    if ((row === undefined) !== (action === "INSERT")) faults.push(`${where}: the row is ${row ? "" : "not "}there`);
    for (const [column, was] of Object.entries(old ?? {}))
      if (row && (row[column] ?? null) !== was) faults.push(`${where}: ${column} is ${row[column]}, not ${was}`);
    if (action === "DELETE") rows.delete(key);
    else rows.set(key, { ...row, ...values });
  }
  return { rows, faults };
}

/** The mapped columns of the rows, or these, in the order of their keys. */
export const only = (rows: Rows, columns = COLUMNS): readonly unknown[] =>
  [...rows]
    .sort(([one], [other]) => one - other)
    .map(([key, row]) => ({ key, ...Object.fromEntries(columns.map((column) => [column, row[column] ?? null])) }));
