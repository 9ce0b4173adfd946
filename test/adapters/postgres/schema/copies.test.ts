import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { excludeFromDump } from "../../../../lib/cli/commands/schema.ts";
import type { Context } from "../../../../lib/cli/context.ts";
import { aCustomerForEachTest, customer, sql } from "../world.ts";

aCustomerForEachTest();

/** One statement of each kind, and one that gives a row another key; how many changes are in the log then. */
async function write(): Promise<unknown> {
  await sql("INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'Curie'), (2, 'Hopper')");
  await sql("UPDATE salesforce.contact SET lastname = 'Noether', id = id + 10 WHERE id = 1");
  await sql("DELETE FROM salesforce.contact");
  const [made] = await sql("SELECT to_regclass('salesforce._trigger_log') IS NOT NULL AS made");
  if (made?.["made"] === false) return 0;
  return (await sql("SELECT count(*)::int AS changes FROM salesforce._trigger_log"))[0]?.["changes"];
}

const left = async () =>
  (
    await sql(
      `SELECT (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal)::int AS triggers,
         (SELECT string_agg(proname, ' ') FROM pg_proc WHERE proname LIKE '\\_bridge\\_%') AS functions,
         (SELECT count(*) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum
           WHERE a.attname = '_ab_lastop')::int AS defaults`,
    )
  )[0];

test.each([
  ["of the schema without its data", "DELETE FROM salesforce._bridge_meta"],
  [
    "without Bridge's tables",
    "DROP VIEW salesforce._trigger_log_archive; DROP TABLE salesforce._bridge_meta, salesforce._trigger_log, salesforce._bridge_in_hand",
  ],
])("in a copy %s writes succeed, and the triggers log nothing", async (_, copied) => {
  expect(await write()).toBe(5);
  await sql("DELETE FROM salesforce._trigger_log");
  await sql(copied);

  expect(await write()).toBe(0);
  // A table that the copy's own migrations have changed is no exception.
  await sql("ALTER TABLE salesforce.contact DROP COLUMN email");
  expect(await write()).toBe(0);
});

test("a full copy is detached by a statement that needs no Bridge, and nothing is logged from then on", async () => {
  await customer.provision({ mappingId: "map_lead", table: "lead", sfObject: "Lead" });
  await sql(`
    CREATE FUNCTION salesforce.own() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
    CREATE TRIGGER own BEFORE INSERT ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION salesforce.own()`);
  await sql("INSERT INTO salesforce.contact (id, lastname) VALUES (77, 'Kept')");

  expect(await sql("SELECT salesforce._bridge_detach() AS removed")).toEqual([
    { removed: "16 triggers and 14 functions of Bridge are gone" },
  ]);

  expect(await left()).toEqual({ triggers: 1, functions: "_bridge_detach", defaults: 0 });
  expect(await sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Kept" }]);
  await sql("DELETE FROM salesforce._trigger_log");
  expect(await write()).toBe(0);
  expect(await sql("SELECT salesforce._bridge_detach() AS removed")).toEqual([
    { removed: "0 triggers and 0 functions of Bridge are gone" },
  ]);
});

const PROGRAMS = process.env["POSTGRES_PROGRAMS"] ?? "";

/** The embedded server has no pg_dump; that of another version comes with it. */
describe.skipIf(!existsSync(join(PROGRAMS, "pg_dump")))("a real dump", () => {
  test.each([
    ["of the schema alone", async () => ["--schema-only"]],
    ["with the options that `bridge schema exclude` prints", options],
  ])("%s, restored beside it, takes writes and logs nothing", async (_, dump) => {
    await sql("INSERT INTO salesforce.contact (id, lastname) VALUES (77, 'Kept')");
    const more = (await dump()).map((option) => option.replaceAll("'", ""));
    const args = ["--no-owner", "--no-privileges", "--inserts", ...more, "--schema=salesforce", customer.url];
    const { stdout } = await promisify(execFile)(join(PROGRAMS, "pg_dump"), args, { maxBuffer: 50_000_000 });
    await sql("ALTER SCHEMA salesforce RENAME TO original");
    const restoring = await customer.connect();
    // Lines that begin with a backslash are for psql.
    await restoring.query(stdout.replaceAll(/^\\.*$/gm, ""));

    expect(await write()).toBe(0);
    expect(await sql("SELECT count(*)::int AS changes FROM original._trigger_log")).toEqual([{ changes: 1 }]);
  });
});

async function options(): Promise<readonly string[]> {
  let printed: readonly string[] = [];
  const api = () => ({ get: async () => ({ data: { postgres: { schema: "salesforce" } } }) });
  const out = { done: (_: string, answer: { options: readonly string[] }) => (printed = answer.options) };
  await excludeFromDump({ api, out } as unknown as Context);
  return printed;
}
