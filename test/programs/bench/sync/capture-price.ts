import { Client } from "pg";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import type { BenchServer } from "./bench-database.ts";
import { type Figure, median } from "./figure.ts";
import { between, usedSoFar } from "./process-time.ts";

const ROUNDS = 9;
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

/** Without capture, with an audit trigger, and as Bridge captures. */
const TABLES = ["plain", "audit", "current"] as const;

/** What a user would pick instead: both sides of each row as jsonb, by a trigger for each row. */
const AUDIT = `
  CREATE TABLE salesforce.audit_log (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(),
    table_name text NOT NULL, action text NOT NULL, old jsonb, new jsonb);
  CREATE FUNCTION salesforce.audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
  AS $$ BEGIN
    INSERT INTO salesforce.audit_log (table_name, action, old, new)
    VALUES (TG_TABLE_NAME, TG_OP, CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END, to_jsonb(NEW));
    RETURN NULL;
  END $$;
  CREATE TRIGGER audit AFTER INSERT OR UPDATE ON salesforce.audit FOR EACH ROW EXECUTE FUNCTION salesforce.audit();`;

/** Whose decoding of the plain table is read after each round, as what a user would pick instead. */
const SLOT = "bench_slot";

/**
 * What capture costs in the server, as multiples of the same statement without it, beside an audit trigger and logical
 * decoding; the tables alternate. The server's `wal_level` must be `logical`.
 */
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
      const { times, decoded } = await measure(client, one, statement);
      const [plain, audit, current] = times;
      const where = `${one.columns} columns${one.hasLarge ? " beside 1 MB" : ""}`;
      figures.push(
        { name: `${what}, ${where}: processor time without capture`, value: median(plain), unit: "ms" },
        { name: "  captured, times that", value: median(current) / median(plain), unit: "×" },
        { name: "  with an audit trigger", value: median(audit) / median(plain), unit: "×" },
        { name: "  decoded by a slot, its reader included", value: 1 + median(decoded) / median(plain), unit: "×" },
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
    if (table !== "current") await provisioner.retire(mappingOf(shape));
    if (table === "audit") await client.query(AUDIT);
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

interface Taken {
  /** Milliseconds of the server's processor in each round: of the plain table, the audited one, the captured one. */
  readonly times: readonly [number[], number[], number[]];
  /** The same of reading what a slot decodes of the plain one. */
  readonly decoded: number[];
}

async function measure(client: Client, one: Case, statement: Statement): Promise<Taken> {
  const taken: Taken = { times: [[], [], []], decoded: [] };
  await fill(client, one);
  for (let round = 0; round <= ROUNDS; round++) {
    // Who is first alternates, so that none gains by it.
    for (const index of round % 2 === 0 ? ([0, 1, 2] as const) : ([2, 1, 0] as const)) {
      const table = TABLES[index];
      await client.query(`TRUNCATE salesforce._trigger_log, salesforce.audit_log; SET session_replication_role = replica;
        DELETE FROM salesforce.${table} WHERE id > ${one.rows}; SET session_replication_role = origin`);
      await client.query(`VACUUM salesforce.${table}`);
      await client.query("CHECKPOINT");
      await client.query("SELECT pg_create_logical_replication_slot($1, 'test_decoding')", [SLOT]);
      const took = await postgresTime(client, async () => {
        for (const text of statement(table, round)) await client.query(text);
      });
      const read = await postgresTime(client, () =>
        client.query("SELECT count(data) FROM pg_logical_slot_get_changes($1, NULL, NULL)", [SLOT]),
      );
      await client.query("SELECT pg_drop_replication_slot($1)", [SLOT]);
      if (round === 0) continue;
      taken.times[index].push(took);
      if (table === "plain") taken.decoded.push(read);
    }
  }
  return taken;
}

async function postgresTime(client: Client, work: () => Promise<unknown>): Promise<number> {
  const before = await usedSoFar(client);
  await work();
  return between(before, await usedSoFar(client)).postgres;
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
        name: `a session's first ${kind}, 500 columns${table === "current" ? "" : `, ${table}`}`,
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
