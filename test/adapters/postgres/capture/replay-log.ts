import type { Client } from "pg";

type Values = Readonly<Record<string, string | null>>;
export type Rows = ReadonlyMap<number, Values>;

interface Change {
  readonly action: string;
  readonly record_id: number;
  readonly old: Values | null;
  readonly values: Values | null;
}

/** The mapped columns of all rows, as texts, by key. */
export async function readRows(client: Client, key = "id", table = "contact"): Promise<Rows> {
  const { rows } = await client.query<{ key: number; content: Values }>(
    `SELECT ${key}::int AS key, to_jsonb(t) AS content FROM (SELECT * FROM salesforce.${table}) t ORDER BY 1`,
  );
  return new Map(rows.map((row) => [row.key, row.content]));
}

/** The log, in the order of its ids, of one table. */
export async function readLog(client: Client, table = "contact"): Promise<readonly Change[]> {
  const { rows } = await client.query<Change>(
    'SELECT action, record_id::int, old, "values" FROM salesforce._trigger_log WHERE table_name = $1 ORDER BY id',
    [table],
  );
  return rows;
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

/** Only these columns of the rows, in the order of their keys. */
export const only = (rows: Rows, columns: readonly string[]): readonly unknown[] =>
  [...rows]
    .sort(([one], [other]) => one - other)
    .map(([key, row]) => ({ key, ...Object.fromEntries(columns.map((column) => [column, row[column] ?? null])) }));
