import { expect, test } from "vitest";
import { handler as changePostgres } from "../../../functions/api/change-postgres.ts";
import { handler as listProposals } from "../../../functions/api/list-proposals.ts";
import { handler as pushExisting } from "../../../functions/api/push-existing.ts";
import { handler as updateMapping } from "../../../functions/api/update-mapping.ts";
import { drizzleCode, type Proposal, writeDrizzleMigration } from "../../../lib/cli/drizzle.ts";
import { createDrizzleApp, type SchemaCode } from "../../support/worlds/drizzle-app.ts";
import { minutesLater } from "../../support/worlds/minute-later.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(undefined, { isBefore: true });

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

/** The code with the lines that `bridge schema propose --drizzle` prints. */
function withCode(code: SchemaCode, proposal: Proposal): SchemaCode {
  const { columns = [], indexes = [] } = code[proposal.table] ?? {};
  const [ofColumns = "", ofIndexes = ""] = drizzleCode(proposal).split("// and in its list of indexes");
  const lines = (text: string) => text.split("\n").filter((line) => /^["\w].*\),$/.test(line));
  const table = { columns: [...columns, ...lines(ofColumns)], indexes: [...indexes, ...lines(ofIndexes)] };
  return { ...code, [proposal.table]: table };
}

let turn = 0;

/** What the application writes, one statement after the other. */
async function write(): Promise<void> {
  for (let round = 0; round < 10; round += 1) {
    turn += 1;
    const values = [`Ada ${turn}`, `of-${turn}@example.com`];
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [values[0]]);
    const oldest = "(SELECT min(id) FROM salesforce.contact)";
    await world.sql(`UPDATE salesforce.contact SET lastname = $1, email = $2 WHERE id > ${oldest} + 5`, values);
    if (round % 5 === 4) await world.sql(`DELETE FROM salesforce.contact WHERE id = ${oldest}`);
  }
}

const cycle = async () => world.cycle(await world.mappingOf());

test.each(["propose", "apply"] as const)(
  "of a table that Drizzle owns no write fails while it is mapped and migrated, both sides are equal then, and Drizzle sees no drift (%s)",
  async (schemaChanges) => {
    const app = await createDrizzleApp(world.databaseUrl, START);
    const path = () => ({ mapping_id: world.contact.id });
    const expectRunning = async () => {
      expect(await world.shownContact()).toMatchObject({ state: "running", reason: null });
      expect(await app.generate()).toEqual([]);
      if (schemaChanges === "propose") expect(await app.drift()).toEqual([]);
    };
    const migrateAsProposed = async () => {
      if (schemaChanges !== "propose") return;
      expect(await world.shownContact()).toMatchObject({ state: "migration_pending" });
      const proposals = await world.ask<readonly Proposal[]>(listProposals, "list-proposals");
      expect(writeDrizzleMigration(app.folder, proposals, new Date(0))).toMatch(/\/\d{4}_bridge\.sql$/);
      expect(writeDrizzleMigration(app.folder, proposals, new Date(0))).toBeNull();
      for (const proposal of proposals) app.code = withCode(app.code, proposal);
      await Promise.all([write(), app.migrate()]);
      await minutesLater(world);
    };
    const migrate = async (name: string, code: SchemaCode, sql?: readonly string[]) => {
      app.code = code;
      await app.write(name, sql);
      await Promise.all([write(), app.migrate(), cycle()]);
      await cycle();
    };
    const setFields = async (...fields: readonly string[]) => {
      await world.ask(updateMapping, "update-mapping", { path: path(), body: { fields } });
      await world.carryOut();
    };

    await app.write("start");
    await app.migrate();
    await write();
    await world.ask(changePostgres, "change-postgres", { body: { schema_changes: schemaChanges } });
    await world.mapContact(FIELDS, { bridge: { delete_limit: "off" } });
    await migrateAsProposed();
    await world.ask(pushExisting, "push-existing", { path: path() });
    await cycle();
    await expectRunning();

    const { contact: { columns, indexes } = { columns: [], indexes: [] }, ...others } = GROWN;
    const ofBridge = app.code["contact"]?.columns.filter((line) => !START["contact"]?.columns.includes(line)) ?? [];
    const ownIndexes = [...(app.code["contact"]?.indexes ?? []), ...indexes];
    const grown = { columns: [...columns, ...ofBridge], indexes: ownIndexes };
    await migrate("grown", { contact: grown, ...others });
    await expectRunning();

    // What the developer writes where drizzle-kit would ask whether something was renamed.
    const left = grown.columns
      .filter((line) => !line.startsWith("note:"))
      .map((line) => (line.startsWith("firstname:") ? 'given_name: varchar("given_name", { length: 40 }),' : line));
    await migrate("renamed", { contact: { ...grown, columns: left }, ...others }, [
      'ALTER TABLE "salesforce"."contact" RENAME COLUMN "firstname" TO "given_name"',
      'ALTER TABLE "salesforce"."contact" DROP COLUMN "note"',
    ]);
    expect(await world.shownContact()).toMatchObject({ state: "broken", failure: "column_gone" });
    await setFields("Email", "LastName", "Title");
    await cycle();
    await expectRunning();

    await setFields("Department", "Email", "LastName", "Title");
    await migrateAsProposed();
    for (let cycles = 0; cycles < 3; cycles += 1) await cycle();
    await expectRunning();
    await app.close();

    expect(await world.sql("SELECT state, sf_message FROM salesforce._trigger_log WHERE state <> 'SUCCESS'")).toEqual(
      [],
    );
    const rows = await world.sql(
      'SELECT sfid, email, lastname, title FROM salesforce.contact ORDER BY sfid COLLATE "C"',
    );
    const records = await world.soql("SELECT Id, Email, LastName, Title FROM Contact ORDER BY Id");
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.map((row) => Object.values(row))).toEqual(
      records.map(({ Id, Email, LastName, Title }) => [Id, Email, LastName, Title]),
    );
  },
);
