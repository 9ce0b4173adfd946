import { Client } from "pg";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, median } from "../figures.ts";
import type { BenchServer } from "./bench-database.ts";
import { provision } from "./bench-mapping.ts";
import type { Sizes } from "./sizes.ts";

const ROUNDS = 7;
const MOST_TIMES_PLAIN = 3;
const MOST_OF_ROW_TRIGGER = 0.7;

const COLUMNS = [
  column("Birthdate", { type: "date" }),
  column("CreatedDate", { type: "datetime" }),
  column("Department"),
  column("Description", { type: "textarea", length: 32_000 }),
  column("DoNotCall", { type: "boolean" }),
  column("Email", { type: "email" }),
  column("FirstName", { length: 40 }),
  column("Key__c", { length: 40 }),
  column("LastName"),
  column("Phone", { type: "phone", length: 40 }),
  column("Salary__c", { type: "currency", precision: 18, scale: 2 }),
  column("Title", { length: 128 }),
];

const shapeOf = (table: string): TableShape =>
  contactShape({ table, mappingId: table, columns: COLUMNS, upsertField: "Key__c" });

const insertInto = (table: string, rows: number) => `
  INSERT INTO salesforce.${table}
    (birthdate, createddate, department, description, donotcall, email, firstname, key__c, lastname, phone, salary__c, title)
  SELECT date '1980-01-01' + i % 10000, now(), 'Sales', 'Met at the conference of ' || i, i % 2 = 0,
    'person' || i || '@example.com', 'First' || i, 'K-' || i, 'Last' || i, '+49 30 ' || i, i * 1.25, 'Engineer'
  FROM generate_series(1, ${rows}) AS i`;

/** What one would write by hand: a trigger for each row, which logs the same values into the same log. */
const ROW_TRIGGER = `
  CREATE FUNCTION salesforce.log_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ BEGIN
      INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, "values")
      VALUES ('INSERT', TG_TABLE_NAME, NEW.id, NEW.sfid, jsonb_object(
        ARRAY[${COLUMNS.map(({ column: name }) => `'${name}'`).join(", ")}],
        ARRAY[${COLUMNS.map(({ column: name }) => `NEW.${name}::text`).join(", ")}]));
      RETURN NULL;
    END $$;
  CREATE TRIGGER log_row AFTER INSERT ON salesforce.by_row FOR EACH ROW EXECUTE FUNCTION salesforce.log_row();`;

const TABLES = ["plain", "by_statement", "by_row"] as const;

/**
 * What capture costs an application that inserts many rows in one statement, against the same table without capture and
 * against a row trigger that logs the same.
 */
export async function measureCapture(
  server: BenchServer,
  { captured: rows }: Pick<Sizes, "captured">,
): Promise<Figure[]> {
  const url = await server.createDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await prepare(client, url);
    const [plain, statement, row] = (await measure(client, rows)).map(median);
    if (plain === undefined || statement === undefined || row === undefined) throw new Error("nothing was measured");
    return [
      { name: `INSERT of ${rows.toLocaleString("en")} rows, captured`, value: statement, unit: "ms" },
      { name: "  times without capture", value: statement / plain, unit: "×", atMost: MOST_TIMES_PLAIN },
      { name: "  of a row trigger that logs the same", value: statement / row, unit: "×", atMost: MOST_OF_ROW_TRIGGER },
    ];
  } finally {
    await client.end();
  }
}

async function prepare(client: Client, url: string): Promise<void> {
  // The table and its indexes are the same; only one of them is captured as Bridge does it.
  for (const table of TABLES) await provision(url, shapeOf(table), { captured: table === "by_statement" });
  await client.query(ROW_TRIGGER);
}

/** Milliseconds of each round by table; the tables alternate, so that a slow moment of the machine meets all. */
async function measure(client: Client, rows: number): Promise<number[][]> {
  const times = TABLES.map((): number[] => []);
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, table] of TABLES.entries()) {
      await client.query(`TRUNCATE salesforce._trigger_log; TRUNCATE salesforce.plain; CHECKPOINT`);
      await client.query(`SET client_min_messages = error; TRUNCATE salesforce.by_statement, salesforce.by_row`);
      const from = performance.now();
      await client.query(insertInto(table, rows));
      if (round > 0) times[index]?.push(performance.now() - from);
    }
  }
  return times;
}
