import { Client } from "pg";
import { expect } from "vitest";
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

/** What drizzle-kit generates for an application that grows: columns, types, defaults, NOT NULL, an index and a table. */
const GROWN: SchemaCode = {
  contact: {
    columns: [
      'id: bigserial("id", { mode: "number" }).primaryKey(),',
      'email: varchar("email", { length: 80 }),',
      'lastname: varchar("lastname", { length: 80 }).notNull(),',
      'firstname: varchar("firstname", { length: 40 }),',
      'title: text("title").default("none"),',
      'kind: varchar("kind", { length: 10 }).notNull().default("person"),',
      'note: text("note"),',
    ],
    indexes: ['index("contact_email_idx").on(table.email),'],
  },
  invoice: {
    columns: [
      'id: bigserial("id", { mode: "number" }).primaryKey(),',
      'contact: bigint("contact", { mode: "number" }).notNull(),',
      'total: numeric("total", { precision: 12, scale: 2 }),',
    ],
    indexes: ['index("invoice_contact_idx").on(table.contact),'],
  },
};

/**
 * Maps a table that Drizzle owns, then runs migrations while the application writes and a cycle runs. Expects that no
 * write and no migration fails, and both sides to be equal in the end; under `propose` that Drizzle sees no drift.
 */
export async function liveThrough(world: SyncWorld, schemaChanges: SchemaChanges): Promise<void> {
  const app = await createDrizzleApp(world.databaseUrl, START);
  const writers = await openWriters(world.databaseUrl);
  try {
    await app.write("start");
    await app.migrate();
    await writers.during(Promise.resolve());
    await liveWith(world, { app, writers }, schemaChanges);
    expect(writers.failures).toEqual([]);
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
): Promise<void> {
  const api = await apiClient(world.workspaceId);
  const path = async () => ({ mapping_id: (await onlyMapping(world)).id });
  const shown = async () =>
    dataOf<{ state: string; failure: string | null; reason: string | null }>(
      await api.ask(readMapping, "read-mapping", { path: await path() }),
    );
  const cycle = async () => world.cycle(await onlyMapping(world));
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
  const setFields = async (...fields: readonly string[]) => {
    await api.ask(updateMapping, "update-mapping", { path: await path(), body: { fields } });
    await carryOut(world.cloud, world.services);
  };
  const migrateBesideACycle = async (name: string, code: SchemaCode, sql?: readonly string[]) => {
    app.code = code;
    await app.write(name, sql);
    await Promise.all([writers.during(app.migrate()), cycle()]);
    await cycle();
    await writers.during(Promise.resolve());
  };

  await api.ask(changePostgres, "change-postgres", { body: { schema_changes: schemaChanges } });
  await world.map({ object: "Contact", fields: FIELDS, bridge: { delete_limit: "off" } });
  if (schemaChanges === "propose") await migrateAsProposed();
  await api.ask(pushExisting, "push-existing", { path: await path() });
  await cycle();
  await noDrift();

  const { contact: { columns, indexes } = { columns: [], indexes: [] }, ...others } = GROWN;
  const ofBridge = app.code["contact"]?.columns.filter((line) => !START["contact"]?.columns.includes(line)) ?? [];
  const ownIndexes = [...(app.code["contact"]?.indexes ?? []), ...indexes];
  const grown = { columns: [...columns, ...ofBridge], indexes: ownIndexes };
  await migrateBesideACycle("grown", { contact: grown, ...others });
  expect(await shown()).toMatchObject({ state: "running", reason: null });
  await noDrift();

  // What the developer writes where drizzle-kit would ask whether something was renamed.
  const left = grown.columns
    .filter((line) => !line.startsWith("note:"))
    .map((line) => (line.startsWith("firstname:") ? 'given_name: varchar("given_name", { length: 40 }),' : line));
  await migrateBesideACycle("renamed", { contact: { ...grown, columns: left }, ...others }, [
    'ALTER TABLE "salesforce"."contact" RENAME COLUMN "firstname" TO "given_name"',
    'ALTER TABLE "salesforce"."contact" DROP COLUMN "note"',
  ]);
  expect(await shown()).toMatchObject({ state: "broken", failure: "column_gone" });
  await setFields("Email", "LastName", "Title");
  await cycle();
  expect(await shown()).toMatchObject({ state: "running", reason: null });
  await noDrift();

  const [known] = await world.soql("SELECT Id FROM Contact ORDER BY Id DESC LIMIT 1");
  await world.rest("PATCH", `/sobjects/Contact/${known?.["Id"]}`, { Department: "Physics" });
  await setFields("Department", "Email", "LastName", "Title");
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
  expect([await isOpen(), await world.sql(failed)]).toEqual([false, []]);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.map((row) => Object.values(row))).toEqual(
    records.map(({ Id, Email, LastName, Title, Department }) => [Id, Email, LastName, Title, Department]),
  );
}

interface Writers {
  readonly failures: readonly string[];
  /** Two sessions of the application write until the work is done, and at least twenty statements each. */
  during(work: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

async function openWriters(url: string): Promise<Writers> {
  const failures: string[] = [];
  const sessions = ["ada", "grace"].map((who) => ({ who, turn: 0, client: new Client({ connectionString: url }) }));
  for (const { client } of sessions) await client.connect();
  return {
    failures,
    during: async (work) => {
      let isDone = false;
      const done = work.finally(() => {
        isDone = true;
      });
      const writes = sessions.map(async (session) => {
        for (let writes = 0; !isDone || writes < 20; writes++) {
          const statement = writeOf(session.who, session.turn++);
          await session.client.query(statement).catch((error: unknown) => failures.push(`${statement}: ${error}`));
        }
      });
      await Promise.all([done, ...writes]);
    },
    close: async () => {
      for (const { client } of sessions) await client.end();
    },
  };
}

/** Twenty rows for each who writes, then updates; each twentieth statement inserts a row, and each deletes one. */
function writeOf(who: string, turn: number): string {
  if (turn < 20 || turn % 20 === 0)
    return `INSERT INTO salesforce.contact (lastname, email) VALUES ('${who} ${turn}', '${who}${turn}@example.com')`;
  const theirs = `SELECT id FROM salesforce.contact WHERE lastname LIKE '${who}%' ORDER BY id OFFSET ${turn % 17} LIMIT 1`;
  if (turn % 20 === 10) return `DELETE FROM salesforce.contact WHERE id = (${theirs})`;
  return `UPDATE salesforce.contact SET email = 'of-${turn}@example.com', lastname = '${who} ${turn}' WHERE id = (${theirs})`;
}
