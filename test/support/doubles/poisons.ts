type Sql = <Row extends object>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** A column of the tables that Bridge keeps in a customer's database, as the catalog has it. */
export interface PoisonedColumn {
  readonly table: string;
  readonly column: string;
  readonly type: string;
}

/** Every one, so that a new column is in it at once. */
export const columnsToPoison = (sql: Sql, schema: string): Promise<readonly PoisonedColumn[]> =>
  sql<PoisonedColumn>(
    `SELECT c.relname AS "table", a.attname AS "column", format_type(a.atttypid, NULL) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r' AND (c.relname ~ '^_bridge_' OR c.relname = '_trigger_log')
     ORDER BY c.relname, a.attnum`,
    [schema],
  );

const HUGE = "repeat('x', 1000000)";
const TEXTS = ["'__proto__'", "''", "E'\\u001b[31m\\n\"} 1'", HUGE, "'NEW'", "'FAILED'"];
const ARRAYS = ["'{NULL}'", "'{}'"];
const DOCUMENTS = [
  '{"SOAP": null, "BULK": null, "REST": 9000}',
  ...'null [] "x" 5 {}'.split(" "),
  ...['{"__proto__": {"a": 1}}', '{"valueOf": 1, "toString": 1}', '{"startedAt": "infinity", "stamp": 1}'],
  '{"SOAP": -5, "REST": 1e300, "BULK": 0.5, "evil\\"} 1\\n": 7}',
];

/** What a hostile owner of a database could write into a column of a type, as SQL; the worst comes first. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  "timestamp with time zone": ["'infinity'", "'-infinity'", "'294276-12-31Z'", "'4713-01-01 BC'"],
  bigint: ["-1", "9223372036854775807", "-9223372036854775808"],
  integer: ["-1", "2147483647"],
  text: TEXTS,
  "character varying": TEXTS,
  uuid: ["gen_random_uuid()"],
  boolean: ["true", "false"],
  "text[]": ARRAYS,
  "bigint[]": ARRAYS,
  jsonb: [
    ...DOCUMENTS.map((json) => `'${json}'`),
    `to_jsonb(${HUGE})`,
    `jsonb_build_object('SOAP', ${HUGE}, ${HUGE}, 1)`,
  ],
};

/** Every statement that poisons the column; NULL is the last of them. */
export function poisonsOf(schema: string, { table, column, type }: PoisonedColumn): readonly string[] {
  const values = VALUES[type];
  if (!values) throw new Error(`${table}.${column} is of type ${type}: say in poisons.ts what is poison to it`);
  return [...values, "NULL"].map((value) => `UPDATE "${schema}"."${table}" SET "${column}" = ${value}`);
}

/** Keeps what these tables hold, and gives what brings it back. */
export async function keepTables(sql: Sql, schema: string): Promise<() => Promise<void>> {
  const found = [...new Set((await columnsToPoison(sql, schema)).map(({ table }) => table))];
  // What others refer to comes first.
  const tables = ["_bridge_state", ...found.filter((table) => table !== "_bridge_state")];
  await sql("DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept");
  for (const table of tables) await sql(`CREATE TABLE kept."${table}" AS TABLE "${schema}"."${table}"`);
  const all = tables.map((table) => `"${schema}"."${table}"`).join(", ");
  const copies = tables.map(
    (table) => `INSERT INTO "${schema}"."${table}" OVERRIDING SYSTEM VALUE TABLE kept."${table}"`,
  );
  // Sent as one text these are one transaction, which is rolled back whole where one of them fails.
  return async () => void (await sql([`TRUNCATE ${all}`, ...copies].join(";")));
}

/** Values that a version before, or a fault of ours, could have stored. */
export const ATTRIBUTES: readonly unknown[] = [
  { SOAP: null, 'evil"} 1\n': 7 },
  ...[null, "", "__proto__", "x".repeat(100_000), -1, 0.5, Number.MAX_SAFE_INTEGER, true],
  ...[[], {}, { valueOf: 1, toString: 1 }],
];
