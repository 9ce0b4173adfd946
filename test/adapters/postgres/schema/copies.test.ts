import { expect, test } from "vitest";
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

  expect(await sql("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")).toEqual([{ tgname: "own" }]);
  const functions = "SELECT proname FROM pg_proc WHERE starts_with(proname, '_bridge_')";
  expect(await sql(functions)).toEqual([{ proname: "_bridge_detach" }]);
  const defaults = "SELECT column_default FROM information_schema.columns WHERE column_name = '_ab_lastop'";
  expect(await sql(defaults)).toEqual(Array(2).fill({ column_default: null }));
  expect(await sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Kept" }]);
  await sql("DELETE FROM salesforce._trigger_log");
  expect(await write()).toBe(0);
  expect(await sql("SELECT salesforce._bridge_detach() AS removed")).toEqual([
    { removed: "0 triggers and 0 functions of Bridge are gone" },
  ]);
});
