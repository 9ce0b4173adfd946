import { Client } from "pg";
import { readOptions } from "../../../lib/local/read-options.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";
import { type Figure, median, report } from "./figures.ts";
import { startBenchServer } from "./sync/bench-database.ts";
import { provision } from "./sync/bench-mapping.ts";
import { measureCapture } from "./sync/capture.ts";
import { FULL } from "./sync/sizes.ts";

const HELP = `npm run bench:capture [-- --json]

What capture costs an application: an INSERT of many rows, beside a row trigger that logs the same, and the first
statements of a session, which make their plans. Ends with 1 when a bar is missed.

  --json  the figures as JSON`;

const options = readOptions(HELP, { json: { type: "boolean", default: false } });
const COLUMNS = 500;
const ROUNDS = 9;

const server = await startBenchServer();
try {
  report(
    [...(await measureCapture(server, FULL)), ...(await measureFirstWrites(await server.createDatabase()))],
    options,
  );
} finally {
  await server.close();
}

/** Milliseconds of a session's first statement, on a captured table of many columns and on one that is not captured. */
async function measureFirstWrites(url: string): Promise<Figure[]> {
  const columns = Array.from({ length: COLUMNS }, (_, index) => column(`Field${index}__c`));
  for (const table of ["plain", "captured"])
    await provision(url, contactShape({ table, mappingId: table, columns }), { captured: table === "captured" });
  const names = columns.map(({ column: name }) => name).join(", ");
  const values = columns.map((_, index) => `'v${index}'`).join(", ");
  const statements = {
    INSERT: (table: string) => `INSERT INTO salesforce.${table} (id, ${names}) VALUES (2, ${values})`,
    UPDATE: (table: string) => `UPDATE salesforce.${table} SET field3__c = 'changed' WHERE id = 1`,
  };
  const figures: Figure[] = [];
  for (const [kind, of] of Object.entries(statements))
    for (const table of ["captured", "plain"]) {
      const times: number[] = [];
      for (let round = 0; round < ROUNDS; round++) times.push(await firstWrite(url, table, of(table)));
      figures.push({
        name: `a session's first ${kind}, ${COLUMNS} columns, ${table}`,
        value: median(times),
        unit: "ms",
      });
    }
  return figures;
}

async function firstWrite(url: string, table: string, statement: string): Promise<number> {
  const session = new Client({ connectionString: url });
  await session.connect();
  try {
    await session.query(`SET session_replication_role = replica; TRUNCATE salesforce.${table};
      INSERT INTO salesforce.${table} (id) VALUES (1); SET session_replication_role = origin`);
    const began = performance.now();
    await session.query(statement);
    return performance.now() - began;
  } finally {
    await session.end();
  }
}
