import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { createProvisioner } from "../../lib/adapters/postgres/provision.ts";
import { guardConnections } from "../../lib/adapters/reach.ts";
import { startPostgres } from "../../lib/local/postgres/start-postgres.ts";
import type { TableShape } from "../../lib/model/shape.ts";
import { mappingOf } from "../adapters/postgres/customer.ts";
import { column, contactShape } from "../support/shapes.ts";

guardConnections(() => null);

/**
 * What capture costs an application that inserts 50,000 rows in one statement: against the same table without capture
 * (at most 3 times), and against a row trigger that logs the same (at most 0.7 times). Exits with 1 when it is more.
 */
const ROWS = 50_000;
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

const insertInto = (table: string) => `
  INSERT INTO salesforce.${table}
    (birthdate, createddate, department, description, donotcall, email, firstname, key__c, lastname, phone, salary__c, title)
  SELECT date '1980-01-01' + i % 10000, now(), 'Sales', 'Met at the conference of ' || i, i % 2 = 0,
    'person' || i || '@example.com', 'First' || i, 'K-' || i, 'Last' || i, '+49 30 ' || i, i * 1.25, 'Engineer'
  FROM generate_series(1, ${ROWS}) AS i`;

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

async function main(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "bridge-bench-"));
  const postgres = await startPostgres({ dataDir });
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await prepare(client, postgres.url);
    const times = await measure(client);
    report(times);
  } finally {
    await client.end();
    await postgres.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function prepare(client: Client, url: string): Promise<void> {
  const provisioner = createProvisioner({ url, schema: "salesforce" }, () => new Date());
  for (const table of TABLES) {
    const shape = shapeOf(table);
    // The table and its indexes are the same; only one of them is captured as Bridge does it.
    await provisioner.provision(mappingOf(shape), shape);
    if (table !== "by_statement") await provisioner.retire(mappingOf(shape));
  }
  await client.query(ROW_TRIGGER);
}

/** Milliseconds of each round; the tables take turns, so that a slow moment of the machine meets all. */
async function measure(client: Client): Promise<Record<(typeof TABLES)[number], number[]>> {
  const times = { plain: [] as number[], by_statement: [] as number[], by_row: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const table of TABLES) {
      await client.query(`TRUNCATE salesforce._trigger_log; TRUNCATE salesforce.plain; CHECKPOINT`);
      await client.query(`SET client_min_messages = error; TRUNCATE salesforce.by_statement, salesforce.by_row`);
      const from = performance.now();
      await client.query(insertInto(table));
      if (round > 0) times[table].push(performance.now() - from);
    }
  }
  return times;
}

function report(times: Record<(typeof TABLES)[number], number[]>): void {
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  const [plain, statement, row] = TABLES.map((table) => median(times[table]));
  if (plain === undefined || statement === undefined || row === undefined) throw new Error("nothing was measured");
  const ratios = { timesPlain: statement / plain, ofRowTrigger: statement / row };
  console.log(`INSERT of ${ROWS} rows, ${COLUMNS.length} mapped columns, 4 indexes, median of ${ROUNDS}:`);
  console.log(`  without capture       ${plain.toFixed(0)} ms`);
  console.log(`  captured              ${statement.toFixed(0)} ms`);
  console.log(`  row trigger           ${row.toFixed(0)} ms`);
  console.log(`  captured / without    ${ratios.timesPlain.toFixed(2)} (at most ${MOST_TIMES_PLAIN})`);
  console.log(`  captured / row trigger ${ratios.ofRowTrigger.toFixed(2)} (at most ${MOST_OF_ROW_TRIGGER})`);
  if (ratios.timesPlain > MOST_TIMES_PLAIN || ratios.ofRowTrigger > MOST_OF_ROW_TRIGGER) process.exitCode = 1;
}

await main();
