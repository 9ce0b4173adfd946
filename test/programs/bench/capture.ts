import { Client } from "pg";
import { readOptions } from "../../../lib/local/read-options.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";
import { type Figure, median, report } from "./figures.ts";
import { type Database, onBench } from "./sync/bench.ts";
import { provision } from "./sync/bench-mapping.ts";

const HELP = `npm run bench:capture [-- --quick] [--json]

What capture costs an application: an INSERT of many rows, beside a row trigger that logs the same, and the first
statements of a session, which make their plans. Ends with 1 when a bar is missed.

  --quick  fewer rows
  --json   the figures as JSON`;

const options = readOptions(HELP, { quick: { type: "boolean" }, json: { type: "boolean", default: false } });
const ROWS = options.quick ? 10_000 : 50_000;
const INSERTS = 7;
const MOST_TIMES_PLAIN = 3;
const MOST_OF_ROW_TRIGGER = 0.7;
const MANY_COLUMNS = 500;
const SESSIONS = 9;

/** Columns with what is inserted into the row `i`. */
const COLUMNS = {
  birthdate: [column("Birthdate", { type: "date" }), "date '1980-01-01' + i % 10000"],
  createddate: [column("CreatedDate", { type: "datetime" }), "now()"],
  department: [column("Department"), "'Sales'"],
  description: [column("Description", { type: "textarea", length: 32_000 }), "'Met at the conference of ' || i"],
  donotcall: [column("DoNotCall", { type: "boolean" }), "i % 2 = 0"],
  email: [column("Email", { type: "email" }), "'person' || i || '@example.com'"],
  firstname: [column("FirstName", { length: 40 }), "'First' || i"],
  key__c: [column("Key__c", { length: 40 }), "'K-' || i"],
  lastname: [column("LastName"), "'Last' || i"],
  phone: [column("Phone", { type: "phone", length: 40 }), "'+49 30 ' || i"],
  salary__c: [column("Salary__c", { type: "currency", precision: 18, scale: 2 }), "i * 1.25"],
  title: [column("Title", { length: 128 }), "'Engineer'"],
} as const;
const NAMES = Object.keys(COLUMNS);

const insertInto = (table: string) => `
  INSERT INTO salesforce.${table} (${NAMES.join(", ")})
  SELECT ${Object.values(COLUMNS)
    .map(([, value]) => value)
    .join(", ")} FROM generate_series(1, ${ROWS}) AS i`;

/** What one would write by hand: a trigger for each row, which logs the same values into the same log. */
const ROW_TRIGGER = `
  CREATE FUNCTION salesforce.log_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$ BEGIN
      INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, "values")
      VALUES ('INSERT', TG_TABLE_NAME, NEW.id, NEW.sfid, jsonb_object(
        ARRAY[${NAMES.map((name) => `'${name}'`).join(", ")}],
        ARRAY[${NAMES.map((name) => `NEW.${name}::text`).join(", ")}]));
      RETURN NULL;
    END $$;
  CREATE TRIGGER log_row AFTER INSERT ON salesforce.by_row FOR EACH ROW EXECUTE FUNCTION salesforce.log_row();`;

const TABLES = ["plain", "by_statement", "by_row"] as const;

await onBench(async ({ createDatabase }) =>
  report(
    [...(await measureInserts(await createDatabase())), ...(await measureFirstWrites(await createDatabase()))],
    options,
  ),
);

/**
 * What capture costs an application that inserts many rows in one statement, against the same table without capture and
 * against a row trigger that logs the same.
 */
async function measureInserts({ url, client }: Database): Promise<Figure[]> {
  // The table and its indexes are the same; only one of them is captured as Bridge does it.
  const columns = Object.values(COLUMNS).map(([one]) => one);
  for (const table of TABLES) {
    const shape = contactShape({ table, mappingId: table, columns, upsertField: "Key__c" });
    await provision(url, shape, { captured: table === "by_statement" });
  }
  await client.query(ROW_TRIGGER);
  await client.query("SET client_min_messages = error");
  const times = TABLES.map((): number[] => []);
  // The tables alternate, so that a slow moment of the machine meets all.
  for (let round = 0; round <= INSERTS; round++)
    for (const [index, table] of TABLES.entries()) {
      await client.query(`TRUNCATE salesforce._trigger_log, ${TABLES.map((name) => `salesforce.${name}`).join(", ")}`);
      await client.query("CHECKPOINT");
      const from = performance.now();
      await client.query(insertInto(table));
      if (round > 0) times[index]?.push(performance.now() - from);
    }
  const [plain = Number.NaN, statement = Number.NaN, row = Number.NaN] = times.map(median);
  return [
    { name: `INSERT of ${ROWS.toLocaleString("en")} rows, captured`, value: statement, unit: "ms" },
    { name: "  times without capture", value: statement / plain, unit: "×", atMost: MOST_TIMES_PLAIN },
    { name: "  of a row trigger that logs the same", value: statement / row, unit: "×", atMost: MOST_OF_ROW_TRIGGER },
  ];
}

/** Milliseconds of a session's first statement, on a captured table of many columns. */
async function measureFirstWrites({ url }: Database): Promise<Figure[]> {
  const columns = Array.from({ length: MANY_COLUMNS }, (_, index) => column(`Field${index}__c`));
  await provision(url, contactShape({ columns }));
  const names = columns.map(({ column: name }) => name).join(", ");
  const values = columns.map((_, index) => `'v${index}'`).join(", ");
  const statements = {
    INSERT: `INSERT INTO salesforce.contact (id, ${names}) VALUES (2, ${values})`,
    UPDATE: "UPDATE salesforce.contact SET field3__c = 'changed' WHERE id = 1",
  };
  const figures: Figure[] = [];
  for (const [kind, statement] of Object.entries(statements)) {
    const times: number[] = [];
    for (let session = 0; session < SESSIONS; session++) times.push(await firstWrite(url, statement));
    figures.push({ name: `a session's first ${kind}, ${MANY_COLUMNS} columns`, value: median(times), unit: "ms" });
  }
  return figures;
}

async function firstWrite(url: string, statement: string): Promise<number> {
  const session = new Client({ connectionString: url });
  await session.connect();
  try {
    await session.query(`SET session_replication_role = replica; TRUNCATE salesforce.contact;
      INSERT INTO salesforce.contact (id) VALUES (1); SET session_replication_role = origin`);
    const began = performance.now();
    await session.query(statement);
    return performance.now() - began;
  } finally {
    await session.end();
  }
}
