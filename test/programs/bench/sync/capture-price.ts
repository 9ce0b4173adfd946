import { Client } from "pg";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import type { BenchServer } from "./bench-database.ts";
import { referenceCapture } from "./capture-reference.ts";
import { type Figure, median } from "./figure.ts";

const ROUNDS = 15;
/** What today's capture may cost of that of version 0.2. */
const MOST_OF_REFERENCE = 1.15;
/** Statements of one row that are measured together. */
const SINGLE = 100;

interface Case {
  readonly columns: number;
  readonly rows: number;
  /** Each row holds 1 MB in a column that is not mapped. */
  readonly hasLarge?: true;
}

const CASES: readonly Case[] = [
  { columns: 12, rows: 10_000 },
  { columns: 500, rows: 500 },
  { columns: 12, rows: 50, hasLarge: true },
];

const TABLES = ["reference", "current"] as const;

/** What capture costs of what version 0.2 took for the same statements on the same tables, the tables taking turns. */
export async function measureCapturePrice(server: BenchServer): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const one of CASES) figures.push(...(await measureCase(await server.createDatabase(), one)));
  return figures;
}

async function measureCase(url: string, one: Case): Promise<Figure[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await prepare(client, url, one);
    const first = one.columns === 500 ? await measureFirstWrite(url, one) : [];
    const statements = statementsOf(one);
    const figures: Figure[] = [];
    for (const [what, statement] of Object.entries(statements)) {
      const [reference = [], current = []] = await measure(client, one, statement);
      // By rounds, so that a slow moment of the machine weighs on both sides of a pair.
      const pairs = current.map((took, round) => took / (reference[round] ?? Number.NaN));
      const where = `${one.columns} columns${one.hasLarge ? " beside 1 MB" : ""}`;
      figures.push(
        { name: `${what}, ${where}`, value: median(current), unit: "ms" },
        { name: "  of what 0.2 took", value: median(pairs), unit: "×", atMost: MOST_OF_REFERENCE },
      );
    }
    return [...first, ...figures];
  } finally {
    await client.end();
  }
}

async function prepare(client: Client, url: string, { columns, hasLarge }: Case): Promise<void> {
  const provisioner = createProvisioner({ url, schema: "salesforce" }, () => new Date());
  const mapped = Array.from({ length: columns }, (_, index) => column(`Field${index}__c`));
  for (const table of TABLES) {
    const shape = contactShape({ table, mappingId: table, columns: mapped });
    await provisioner.provision(mappingOf(shape), shape);
    if (table === "reference") {
      await provisioner.retire(mappingOf(shape));
      await client.query(referenceCapture(table, mapped));
    }
    if (hasLarge) await client.query(`ALTER TABLE salesforce.${table} ADD COLUMN large text`);
  }
}

/** A statement about all rows, or the same as many about one row each. */
type Statement = (table: string, round: number) => readonly string[];

function statementsOf({ columns, rows, hasLarge }: Case): Readonly<Record<string, Statement>> {
  const names = Array.from({ length: columns }, (_, index) => `field${index}__c`);
  const values = names.map((_, index) => `'v${index} ' || i`);
  const insert = (table: string, from: number, to: number) =>
    `INSERT INTO salesforce.${table} (id, ${names.join(", ")}) SELECT i, ${values.join(", ")} FROM generate_series(${from}, ${to}) i`;
  const singles = Math.min(SINGLE, rows);
  const each = (make: (row: number) => string) => Array.from({ length: singles }, (_, index) => make(index + 1));
  const updates: Record<string, Statement> = {
    [`UPDATE of ${rows} rows`]: (table, round) => [`UPDATE salesforce.${table} SET field3__c = 'round ${round}'`],
    [`UPDATE of one row, ${singles} times`]: (table, round) =>
      each((row) => `UPDATE salesforce.${table} SET field3__c = 'round ${round}' WHERE id = ${row}`),
  };
  if (hasLarge) return updates;
  return {
    [`INSERT of ${rows} rows`]: (table) => [insert(table, rows + 1, 2 * rows)],
    [`INSERT of one row, ${singles} times`]: (table) => each((row) => insert(table, rows + row, rows + row)),
    ...updates,
  };
}

async function fill(client: Client, { columns, rows, hasLarge }: Case): Promise<void> {
  const names = Array.from({ length: columns }, (_, index) => `field${index}__c`);
  await client.query("SET session_replication_role = replica");
  for (const table of TABLES) {
    await client.query(`TRUNCATE salesforce.${table}`);
    await client.query(
      `INSERT INTO salesforce.${table} (id, ${names.join(", ")}) SELECT i, ${names.map((one) => `'${one.slice(5, 8)} ' || i`).join(", ")}
       FROM generate_series(1, ${rows}) i`,
    );
    // Of a text that compresses next to nothing is stored.
    if (hasLarge) {
      await client.query(
        `UPDATE salesforce.${table} SET large = (SELECT string_agg(md5(id::text || i), '') FROM generate_series(1, 32768) i)`,
      );
    }
  }
  await client.query("SET session_replication_role = origin");
}

/** Milliseconds of each round by table. */
async function measure(client: Client, one: Case, statement: Statement): Promise<number[][]> {
  const times = TABLES.map((): number[] => []);
  await fill(client, one);
  for (let round = 0; round <= ROUNDS; round++) {
    // Who is first alternates, so that neither gains by it.
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const table = TABLES[index] ?? "current";
      await client.query(`TRUNCATE salesforce._trigger_log; SET session_replication_role = replica;
        DELETE FROM salesforce.${table} WHERE id > ${one.rows}; SET session_replication_role = origin`);
      await client.query(`VACUUM salesforce.${table}`);
      await client.query("CHECKPOINT");
      const from = performance.now();
      for (const text of statement(table, round)) await client.query(text);
      if (round > 0) times[index]?.push(performance.now() - from);
    }
  }
  return times;
}

/** The first statement of a session makes its plans. */
async function measureFirstWrite(url: string, one: Case): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [what, statement] of Object.entries(statementsOf(one))) {
    if (!what.includes("one row")) continue;
    for (const table of TABLES) {
      const [text = ""] = statement(table, 0);
      const kind = what.slice(0, 6);
      figures.push({
        name: `a session's first ${kind}, 500 columns${table === "reference" ? ", by 0.2" : ""}`,
        value: await firstWrite(url, table, text),
        unit: "ms",
      });
    }
  }
  return figures;
}

async function firstWrite(url: string, table: string, text: string): Promise<number> {
  const session = new Client({ connectionString: url });
  await session.connect();
  try {
    if (text.startsWith("UPDATE")) await session.query(`INSERT INTO salesforce.${table} (id) VALUES (1)`);
    await session.query("SELECT 1");
    const from = performance.now();
    await session.query(text);
    const took = performance.now() - from;
    await session.query(`DELETE FROM salesforce.${table}`);
    return took;
  } finally {
    await session.end();
  }
}
