import { readFileSync } from "node:fs";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, median } from "../figures.ts";
import { provision } from "../sync/bench-mapping.ts";
import { watchDatabase } from "./statements.ts";

const COLUMNS = 12;
const ROUNDS = 9;
const STATEMENTS = 1_000;
const TICKS_A_SECOND = 100;

const WAYS = ["plain", "captured"] as const;

const shapeOf = (table: string) =>
  contactShape({
    ...{ table, mappingId: table },
    columns: Array.from({ length: COLUMNS }, (_, at) => column(`Field${at}__c`)),
  });

/** Processor time of the writing backend, for statements of one row each: plain, and captured. */
export async function measureSingle(server: string): Promise<Figure[]> {
  const database = await watchDatabase(server);
  const { url, client } = database;
  try {
    for (const name of WAYS) await provision(url, shapeOf(name), { captured: name === "captured" });
    await client.query("SET synchronous_commit = off");
    const { rows } = await client.query("SELECT pg_backend_pid() AS pid");
    const ticks = () => {
      const fields = readFileSync(`/proc/${rows[0].pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return Number(fields[11]) + Number(fields[12]);
    };
    const kinds = ["INSERT", "UPDATE", "DELETE"] as const;
    const times = new Map<string, number[]>();
    for (let round = 0; round <= ROUNDS; round++) {
      await client.query("TRUNCATE salesforce._trigger_log");
      for (const name of round % 2 ? WAYS : WAYS.toReversed()) {
        await client.query(`SET client_min_messages = error; TRUNCATE salesforce.${name}`);
        for (const kind of kinds) {
          const statement = statementOf(kind, name, round);
          const from = ticks();
          await client.query(`DO $$ BEGIN FOR i IN 1..${STATEMENTS} LOOP ${statement}; END LOOP; END $$`);
          const took = ((ticks() - from) / TICKS_A_SECOND / STATEMENTS) * 1e6;
          const own = times.get(`${kind} ${name}`) ?? [];
          if (round > 0) own.push(took);
          times.set(`${kind} ${name}`, own);
        }
      }
    }
    const of = (kind: string, name: string) => median(times.get(`${kind} ${name}`) ?? []);
    return kinds.flatMap((kind): Figure[] => [
      { name: `${kind} of one row, plain`, value: of(kind, "plain"), unit: "µs" },
      { name: "  captured, beyond that", value: of(kind, "captured") - of(kind, "plain"), unit: "µs" },
    ]);
  } finally {
    await database.close();
  }
}

function statementOf(kind: "INSERT" | "UPDATE" | "DELETE", table: string, round: number): string {
  const fields = Array.from({ length: COLUMNS }, (_, at) => `field${at}__c`);
  if (kind === "INSERT")
    return `INSERT INTO salesforce.${table} (id, ${fields.join(", ")}) VALUES (i, ${fields.map((one) => `'${one} ' || i`).join(", ")})`;
  if (kind === "UPDATE") return `UPDATE salesforce.${table} SET field3__c = 'round ${round} ' || i WHERE id = i`;
  return `DELETE FROM salesforce.${table} WHERE id = i`;
}
