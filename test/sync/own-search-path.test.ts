import { expect, test } from "vitest";
import { firstInGate } from "../support/run/whole-grid.ts";
import { eachInAWorld, world } from "./world.ts";

eachInAWorld();

test("triggers of the application find what they name without a schema, whether Bridge or the application writes the row", async () => {
  await world.asSuperuser(`CREATE TABLE public.greeted (lastname text); GRANT ALL ON public.greeted TO PUBLIC;
    CREATE FUNCTION public.greeting(text) RETURNS text LANGUAGE sql AS $$ SELECT 'hello ' || $1 $$;
    CREATE FUNCTION public.greet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO greeted VALUES (greeting(NEW.lastname)); RETURN NEW; END $$`);
  await world.mapContact(["Email", "LastName"]);
  await world.sql(`CREATE TRIGGER greet AFTER INSERT OR UPDATE ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION greet();
    ALTER TABLE salesforce.contact ENABLE ALWAYS TRIGGER greet`);
  await world.insert("Row");
  await world.create("Record");

  await world.cycles(2);

  expect(await world.sql("SELECT DISTINCT lastname FROM public.greeted ORDER BY 1")).toEqual([
    { lastname: "hello Record" },
    { lastname: "hello Row" },
  ]);
  expect(await world.sql("SELECT FROM salesforce.contact WHERE sfid IS NULL OR _ab_err IS NOT NULL")).toEqual([]);
});

const BESIDE = `CREATE SCHEMA "Ext 1"; GRANT USAGE ON SCHEMA "Ext 1" TO PUBLIC; CREATE EXTENSION citext SCHEMA "Ext 1"`;
const DOMAIN = `CREATE EXTENSION citext SCHEMA public; CREATE DOMAIN public.external AS public.citext CHECK (VALUE <> '')`;

test.each(
  firstInGate(1, [
    ["citext in a schema beside the path", BESIDE, '"Ext 1".citext'],
    ["a domain over citext", DOMAIN, "public.external"],
  ] as const),
)("a row meets its record by an upsert value whose case differs, the column being %s", async (_, make, type) => {
  await world.asSuperuser(make);
  await world.sql(`CREATE SCHEMA IF NOT EXISTS salesforce;
    CREATE TABLE salesforce.contact (id bigserial PRIMARY KEY, external_id__c ${type}, lastname varchar(80));
    INSERT INTO salesforce.contact (external_id__c, lastname) VALUES ('ABC-1', 'Curie'), ('ABC-2', 'Meitner')`);
  await world.create("Curie", { External_Id__c: "abc-1" });

  await world.mapContact(["External_Id__c", "LastName"], { upsertField: "External_Id__c" });
  await world.cycles();

  expect(await world.sql("SELECT lastname, sfid IS NULL AS unmet FROM salesforce.contact ORDER BY id")).toEqual([
    { lastname: "Curie", unmet: false },
    { lastname: "Meitner", unmet: expect.any(Boolean) },
  ]);
});
