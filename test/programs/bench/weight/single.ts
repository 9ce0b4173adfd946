import { readFileSync } from "node:fs";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, median } from "../figures.ts";
import type { Bench } from "../sync/bench.ts";
import { provision } from "../sync/bench-mapping.ts";

const COLUMNS = 12;
const ROUNDS = 9;
const STATEMENTS = 1_000;
const MOST_BEYOND_PLAIN = 85;

/** Microseconds of the processor that the writing backend takes for an UPDATE of one row: plain, and captured. */
export async function measureSingle({ createDatabase }: Bench): Promise<Figure[]> {
  const { url, client } = await createDatabase();
  const columns = Array.from({ length: COLUMNS }, (_, at) => column(`Field${at}__c`));
  const times = { plain: [] as number[], captured: [] as number[] };
  await client.query("SET synchronous_commit = off");
  for (const table of Object.keys(times)) {
    await provision(url, contactShape({ table, mappingId: table, columns }), { captured: table === "captured" });
    const names = columns.map(({ column: name }) => name);
    await client.query(
      `INSERT INTO salesforce.${table} (id, ${names.join(", ")})
       SELECT i, ${names.map((name) => `'${name} ' || i`).join(", ")} FROM generate_series(1, ${STATEMENTS}) i`,
    );
  }
  const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
  const microseconds = () => Number(readFileSync(`/proc/${rows[0].pid}/schedstat`, "utf8").split(" ")[0]) / 1e3;
  for (let round = 0; round <= ROUNDS; round++) {
    await client.query("TRUNCATE salesforce._trigger_log");
    for (const [table, own] of Object.entries(times)) {
      const statement = `UPDATE salesforce.${table} SET field3__c = 'round ${round} ' || i WHERE id = i`;
      const from = microseconds();
      await client.query(`DO $$ BEGIN FOR i IN 1..${STATEMENTS} LOOP ${statement}; END LOOP; END $$`);
      if (round > 0) own.push((microseconds() - from) / STATEMENTS);
    }
  }
  const [plain, captured] = [median(times.plain), median(times.captured)];
  return [
    { name: "UPDATE of one row, plain", value: plain, unit: "µs" },
    { name: "  captured, beyond that", value: captured - plain, unit: "µs", atMost: MOST_BEYOND_PLAIN },
  ];
}
