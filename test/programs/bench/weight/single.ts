import { readFileSync } from "node:fs";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { type Figure, median } from "../sync/figure.ts";
import { watchDatabase } from "./statements.ts";

const COLUMNS = 12;
const ROUNDS = 9;
const STATEMENTS = 1_000;
const TICKS_A_SECOND = 100;

/** A table that one of the ways logs; `make` installs it. */
interface Way {
  readonly name: string;
  make(url: string, table: string): Promise<void>;
}

const shapeOf = (table: string) =>
  contactShape({
    table,
    mappingId: table,
    columns: Array.from({ length: COLUMNS }, (_, at) => column(`Field${at}__c`)),
  });

const provisionBy =
  (create: typeof createProvisioner, retires: boolean): Way["make"] =>
  async (url, table) => {
    const provisioner = create({ url, schema: "salesforce" }, () => new Date());
    const shape = shapeOf(table);
    await provisioner.provision(mappingOf(shape), shape);
    if (retires) await provisioner.retire(mappingOf(shape));
  };

/** Processor time of the writing backend, for statements of one row each: plain, captured, and by other trees' capture. */
export async function measureSingle(
  server: string,
  others: readonly string[],
  say: (text: string) => void,
): Promise<Figure[]> {
  const database = await watchDatabase(server);
  const { url, client } = database;
  try {
    const before = await Promise.all(
      others.map(async (tree, at): Promise<Way> => {
        const { createProvisioner: create } = await import(`${tree}/lib/adapters/postgres/schema/provision.ts`);
        (await import(`${tree}/lib/network/guarded-dns.ts`)).guardConnections(() => null);
        return { name: `other_${at}`, make: provisionBy(create, false) };
      }),
    );
    const ways: Way[] = [
      { name: "plain", make: provisionBy(createProvisioner, true) },
      ...before,
      { name: "captured", make: provisionBy(createProvisioner, false) },
    ];
    for (const { name, make } of ways) await make(url, name);
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
      for (const { name } of round % 2 ? ways : ways.toReversed()) {
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
    say(JSON.stringify(Object.fromEntries(times)));
    const of = (kind: string, name: string) => median(times.get(`${kind} ${name}`) ?? []);
    return kinds.flatMap((kind) =>
      ways.map(
        ({ name }): Figure => ({
          name: `${kind} of one row, ${name}${name === "plain" ? "" : ", beyond plain"}`,
          value: of(kind, name) - (name === "plain" ? 0 : of(kind, "plain")),
          unit: "µs",
        }),
      ),
    );
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
