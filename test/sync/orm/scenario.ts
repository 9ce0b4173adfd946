import { Client } from "pg";
import { expect } from "vitest";
import { handler as captureMapping } from "../../../functions/api/capture-mapping.ts";
import { handler as changePostgres } from "../../../functions/api/change-postgres.ts";
import { handler as listProposals } from "../../../functions/api/list-proposals.ts";
import { handler as pushExisting } from "../../../functions/api/push-existing.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import { handler as updateMapping } from "../../../functions/api/update-mapping.ts";
import { drizzleCode, type Proposal, writeDrizzleMigration } from "../../../lib/cli/drizzle.ts";
import type { SchemaChanges } from "../../../lib/model/workspace/workspace.ts";
import { apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import { createDrizzleApp, type DrizzleApp, type SchemaCode } from "../../support/worlds/drizzle-app.ts";
import { minutesLater } from "../../support/worlds/minute-later.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";

/** The application's tables before Bridge. */
const START: SchemaCode = {
  contact: {
    columns: [
      'id: bigserial("id", { mode: "number" }).primaryKey(),',
      'email: varchar("email", { length: 80 }),',
      'lastname: varchar("lastname", { length: 80 }),',
      'firstname: varchar("firstname", { length: 40 }),',
      'title: varchar("title", { length: 128 }),',
      'note: text("note"),',
    ],
    indexes: [],
  },
};

const FIELDS = ["Email", "FirstName", "LastName", "Title"];

/** One migration of the application's, and what the operator of Bridge does when the mapping says so. */
export interface Step {
  readonly name: string;
  /** How the schema's code changes; drizzle-kit generates the migration. */
  readonly edit: (code: SchemaCode) => SchemaCode;
  /** What the developer writes instead, where drizzle-kit would ask whether something was renamed. */
  readonly sql?: readonly string[];
  /** What the mapping then says, and what its remedy asks for; left out: it continues running. */
  readonly breaks?: { readonly failure: string; readonly act?: (operator: Operator) => Promise<void> };
}

interface Operator {
  setFields(fields: readonly string[]): Promise<void>;
  captureMine(): Promise<void>;
}

const contactOf = (edit: (lines: readonly string[]) => readonly string[]) => (code: SchemaCode) =>
  edited(code, "contact", edit);

function edited(code: SchemaCode, table: string, edit: (lines: readonly string[]) => readonly string[]): SchemaCode {
  const { columns = [], indexes = [] } = code[table] ?? {};
  return { ...code, [table]: { columns: edit(columns), indexes } };
}

const without = (column: string) => (lines: readonly string[]) =>
  lines.filter((line) => !line.startsWith(`${column}:`));
const replaced = (column: string, by: string) => (lines: readonly string[]) =>
  lines.map((line) => (line.startsWith(`${column}:`) ? by : line));

function renamed(code: SchemaCode, from: string, to: string): SchemaCode {
  const { [from]: table = { columns: [], indexes: [] }, ...others } = code;
  return { ...others, [to]: table };
}

/** A renamed column whose field is then removed from the mapping. */
export const RENAME: Step = {
  name: "rename_mapped_column",
  edit: contactOf(replaced("firstname", 'given_name: varchar("given_name", { length: 40 }),')),
  sql: ['ALTER TABLE "salesforce"."contact" RENAME COLUMN "firstname" TO "given_name"'],
  breaks: { failure: "column_gone", act: ({ setFields }) => setFields(["Email", "LastName", "Title"]) },
};

/** What an application does to its tables in a year. */
export const YEAR: readonly Step[] = [
  {
    name: "add_column",
    edit: contactOf((lines) => [...lines, 'kind: varchar("kind", { length: 10 }).notNull().default("person"),']),
  },
  {
    name: "type_and_default_of_mapped_column",
    edit: contactOf(replaced("title", 'title: text("title").default("none"),')),
  },
  {
    name: "not_null_of_mapped_column",
    edit: contactOf(replaced("lastname", 'lastname: varchar("lastname", { length: 80 }).notNull(),')),
  },
  { name: "drop_unmapped_column", edit: contactOf(without("note")) },
  RENAME,
  {
    name: "new_table",
    edit: (code) => ({
      ...code,
      invoice: {
        columns: [
          'id: bigserial("id", { mode: "number" }).primaryKey(),',
          'contact: bigint("contact", { mode: "number" }).notNull(),',
          'total: numeric("total", { precision: 12, scale: 2 }),',
        ],
        indexes: ['index("invoice_contact_idx").on(table.contact),'],
      },
    }),
  },
  {
    name: "rename_table",
    edit: (code) => renamed(code, "contact", "person"),
    // The code that runs still writes the old name.
    sql: [
      'ALTER TABLE "salesforce"."contact" RENAME TO "person"',
      'CREATE VIEW "salesforce"."contact" AS SELECT * FROM "salesforce"."person"',
    ],
    breaks: { failure: "table_gone" },
  },
  {
    name: "rename_table_back",
    edit: (code) => renamed(code, "person", "contact"),
    sql: ['DROP VIEW "salesforce"."contact"', 'ALTER TABLE "salesforce"."person" RENAME TO "contact"'],
  },
  {
    name: "rebuild_table",
    edit: (code) => code,
    sql: [
      'LOCK TABLE "salesforce"."contact" IN ACCESS EXCLUSIVE MODE',
      'CREATE TABLE "salesforce"."contact_new" (LIKE "salesforce"."contact" INCLUDING ALL)',
      'INSERT INTO "salesforce"."contact_new" SELECT * FROM "salesforce"."contact"',
      'ALTER SEQUENCE "salesforce"."contact_id_seq" OWNED BY "salesforce"."contact_new"."id"',
      'DROP TABLE "salesforce"."contact"',
      'ALTER TABLE "salesforce"."contact_new" RENAME TO "contact"',
      'ALTER INDEX "salesforce"."contact_new_pkey" RENAME TO "contact_pkey"',
      'ALTER INDEX "salesforce"."contact_new_sfid_idx" RENAME TO "contact_sfid_key"',
    ],
    breaks: { failure: "capture_off", act: ({ captureMine }) => captureMine() },
  },
];

/**
 * Maps a table that Drizzle owns, then runs each migration while the application writes and a cycle runs. Expects that no
 * write and no migration fails, and both sides to be equal in the end; under `propose` that Drizzle sees no drift.
 */
export async function liveThrough(
  world: SyncWorld,
  schemaChanges: SchemaChanges,
  steps: readonly Step[],
): Promise<void> {
  const app = await createDrizzleApp(world.databaseUrl, START);
  const writers = await openWriters(world.databaseUrl);
  try {
    await app.write("start");
    await app.migrate();
    await writers.during(Promise.resolve());
    await liveWith(world, { app, writers }, schemaChanges, steps);
    expect(writers.failures).toEqual([]);
    expect(writers.written).toBeGreaterThan(2 * LEAST * steps.length);
    await settle(world);
  } finally {
    await writers.close();
    await app.close();
  }
}

async function liveWith(
  world: SyncWorld,
  { app, writers }: { readonly app: DrizzleApp; readonly writers: Writers },
  schemaChanges: SchemaChanges,
  steps: readonly Step[],
): Promise<void> {
  const api = await apiClient(world.workspaceId);
  const path = async () => ({ mapping_id: (await onlyMapping(world)).id });
  const shown = async () =>
    dataOf<{ state: string; failure: string | null; reason: string | null }>(
      await api.ask(readMapping, "read-mapping", { path: await path() }),
    );
  const cycle = async () => world.cycle(await onlyMapping(world));
  const carry = () => carryOut(world.cloud, world.services);
  const noDrift = async () => {
    expect(await app.generate()).toEqual([]);
    if (schemaChanges === "propose") expect(await app.drift()).toEqual([]);
  };
  const migrateAsProposed = async () => {
    expect(await shown()).toMatchObject({ state: "migration_pending" });
    const proposals = dataOf<readonly Proposal[]>(await api.ask(listProposals, "list-proposals"));
    expect(writeDrizzleMigration(app.folder, proposals, new Date(0))).toMatch(/\/\d{4}_bridge\.sql$/);
    expect(writeDrizzleMigration(app.folder, proposals, new Date(0))).toBeNull();
    for (const proposal of proposals) app.code = withCode(app.code, proposal);
    await writers.during(app.migrate());
    await minutesLater(world);
  };
  const operator: Operator = {
    setFields: async (fields) => {
      await api.ask(updateMapping, "update-mapping", { path: await path(), body: { fields } });
      await carry();
    },
    captureMine: async () => {
      await api.ask(captureMapping, "capture-mapping", { path: await path(), body: { uncaptured: "mine" } });
      await carry();
    },
  };

  await api.ask(changePostgres, "change-postgres", { body: { schema_changes: schemaChanges } });
  await world.map({ object: "Contact", fields: FIELDS, bridge: { delete_limit: "off" } });
  if (schemaChanges === "propose") await migrateAsProposed();
  await api.ask(pushExisting, "push-existing", { path: await path() });
  await cycle();
  await noDrift();

  for (const { name, edit, sql, breaks } of steps) {
    app.code = edit(app.code);
    await app.write(name, sql);
    await Promise.all([writers.during(app.migrate()), cycle()]);
    await cycle();
    await writers.during(Promise.resolve());
    if (breaks) {
      expect({ name, ...(await shown()) }).toMatchObject({ name, state: "broken", failure: breaks.failure });
      if (!breaks.act) continue;
      await breaks.act(operator);
      await cycle();
    }
    expect({ name, ...(await shown()) }).toMatchObject({ name, state: "running", reason: null });
    await noDrift();
  }

  const [known] = await world.soql("SELECT Id FROM Contact ORDER BY Id DESC LIMIT 1");
  await world.rest("PATCH", `/sobjects/Contact/${known?.["Id"]}`, { Department: "Physics" });
  await operator.setFields(["Department", "Email", "LastName", "Title"]);
  if (schemaChanges === "propose") await migrateAsProposed();
  await cycle();
  expect(await shown()).toMatchObject({ state: "running", reason: null });
  await noDrift();
}

async function onlyMapping(world: SyncWorld) {
  const [mapping] = await world.mappings();
  if (!mapping) throw new Error("the mapping is gone");
  return mapping;
}

/** The code with the lines that `bridge schema propose --drizzle` prints. */
function withCode(code: SchemaCode, proposal: Proposal): SchemaCode {
  const { columns = [], indexes = [] } = code[proposal.table] ?? {};
  const [ofColumns = "", ofIndexes = ""] = drizzleCode(proposal).split("// and in its list of indexes");
  const lines = (text: string) => text.split("\n").filter((line) => /^["\w].*\),$/.test(line));
  const table = { columns: [...columns, ...lines(ofColumns)], indexes: [...indexes, ...lines(ofIndexes)] };
  return { ...code, [proposal.table]: table };
}

/** Cycles until nothing waits; then every row is its record, and every record has its row. */
async function settle(world: SyncWorld): Promise<void> {
  const isOpen = async () =>
    (await world.sql("SELECT FROM salesforce._trigger_log WHERE processed_at IS NULL LIMIT 1")).length > 0;
  for (let cycles = 0; cycles < 50 && (cycles < 2 || (await isOpen())); cycles++) {
    await world.cycle(await onlyMapping(world));
  }
  const failed = "SELECT action, sf_message FROM salesforce._trigger_log WHERE state = 'FAILED' LIMIT 5";
  const rows = await world.sql(
    'SELECT sfid, email, lastname, title, department FROM salesforce.contact ORDER BY sfid COLLATE "C"',
  );
  const records = await world.soql("SELECT Id, Email, LastName, Title, Department FROM Contact ORDER BY Id");
  expect(await isOpen()).toBe(false);
  expect(await world.sql(failed)).toEqual([]);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows).toEqual(
    records.map(({ Id, Email, LastName, Title, Department }) => ({
      sfid: Id,
      email: Email,
      lastname: LastName,
      title: Title,
      department: Department,
    })),
  );
}

interface Writers {
  readonly failures: readonly string[];
  readonly written: number;
  /** Both write one statement after the other until the work is done, and some more. */
  during(work: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** Statements that each writes at least. */
const LEAST = 20;

/** Two sessions of the application's. They rest between, for a cycle continues for as long as there is something to send. */
async function openWriters(url: string): Promise<Writers> {
  const failures: string[] = [];
  const counts = { written: 0 };
  const sessions = ["ada", "grace"].map((who) => ({ who, turn: 0, client: new Client({ connectionString: url }) }));
  for (const { client } of sessions) await client.connect();
  const write = async (session: (typeof sessions)[number]) => {
    const [statement, values] = writeOf(session.who, session.turn++);
    await session.client.query(statement, values).then(
      () => {
        counts.written += 1;
      },
      (error: unknown) => {
        failures.push(`${statement}: ${error}`);
      },
    );
  };
  return {
    failures,
    get written() {
      return counts.written;
    },
    during: async (work) => {
      let isDone = false;
      const done = work.finally(() => {
        isDone = true;
      });
      const writeOn = async (session: (typeof sessions)[number]) => {
        for (let writes = 0; !isDone || writes < LEAST; writes++) await write(session);
      };
      await Promise.all([done, ...sessions.map(writeOn)]);
    },
    close: async () => {
      for (const { client } of sessions) await client.end();
    },
  };
}

/** Twenty rows and then some for each who writes: most statements update one, each tenth inserts or deletes one. */
function writeOf(who: string, turn: number): readonly [string, string[]] {
  const theirs = "SELECT id FROM salesforce.contact WHERE lastname LIKE $1 || '%' ORDER BY id";
  if (turn < 20 || turn % 20 === 0) {
    const insert = "INSERT INTO salesforce.contact (lastname, email) VALUES ($1, $2)";
    return [insert, [`${who} ${turn}`, `${who}${turn}@example.com`]];
  }
  if (turn % 20 === 10) return [`DELETE FROM salesforce.contact WHERE id = (${theirs} LIMIT 1)`, [who]];
  const update = `UPDATE salesforce.contact SET email = $2, lastname = $1 || ' ' || $3 WHERE id = (${theirs} OFFSET ${turn % 17} LIMIT 1)`;
  return [update, [who, `${who}${turn}@example.com`, String(turn)]];
}
