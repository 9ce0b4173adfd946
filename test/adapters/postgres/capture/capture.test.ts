import { expect, test } from "vitest";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { image, page, sfidOf } from "../customer.ts";
import { aCustomer, aCustomerForEachTest, customer, insert, insertMany, log, rows, sql } from "../world.ts";

aCustomerForEachTest();

test("only the columns that an update changes are logged, with what they held before", async () => {
  await sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', 'm@example.com'), ('Noether', NULL)");

  await sql("UPDATE salesforce.contact SET email = NULL, lastname = lastname WHERE lastname = 'Curie'");
  await sql("UPDATE salesforce.contact SET email = email, _ab_err = 'mine'");

  expect((await log('action, record_id::int, old, "values", state')).slice(2)).toEqual([
    { action: "UPDATE", record_id: 1, old: { email: "m@example.com" }, values: { email: null }, state: "NEW" },
  ]);
});

test("a change makes its row PENDING and forgets the old error, whatever the statement says of them", async () => {
  await sql("INSERT INTO salesforce.contact (lastname, _ab_lastop, _ab_err) VALUES ('Curie', NULL, 'old')");
  const afterInsert = await rows("_ab_lastop, _ab_err");
  await sql("SET bridge.in_sync = 'contact'");
  await sql("UPDATE salesforce.contact SET _ab_lastop = 'FAILED', _ab_err = 'refused'");
  await sql("RESET bridge.in_sync");

  await sql("UPDATE salesforce.contact SET lastname = 'Noether', _ab_lastop = 'SYNCED'");

  expect([afterInsert, await rows("_ab_lastop, _ab_err")]).toEqual(
    Array(2).fill([{ _ab_lastop: "PENDING", _ab_err: null }]),
  );
});

test("a deleted row is logged with what it held; TRUNCATE only warns", async () => {
  await insertMany(2);
  const warnings: (string | undefined)[] = [];
  customer.application.on("notice", ({ message }) => warnings.push(message));

  await sql("DELETE FROM salesforce.contact WHERE id = 1");
  await sql("TRUNCATE salesforce.contact");

  expect((await log("action, record_id::int, old")).slice(2)).toMatchObject([
    { action: "DELETE", record_id: 1, old: { lastname: "L1" } },
  ]);
  expect(warnings).toEqual(["TRUNCATE of contact deletes nothing in Salesforce"]);
});

test("capture calls no function of another role, and writes times as instants, whatever the session says", async () => {
  await sql("CREATE SCHEMA evil");
  await sql(
    'CREATE FUNCTION evil.jsonb_object(text[], text[]) RETURNS jsonb LANGUAGE sql AS $$ SELECT \'{"evil": "yes"}\'::jsonb $$',
  );
  await sql("ALTER TABLE salesforce.contact ALTER email TYPE timestamptz USING NULL");
  await sql("SET search_path = evil, pg_catalog; SET timezone = 'Asia/Kolkata'; SET datestyle = 'German'");

  await sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', '2026-03-01 05:30:00.123+05:30')");

  expect(await log('"values"')).toMatchObject([{ values: { lastname: "Curie", email: "2026-03-01 00:00:00.123+00" } }]);
});

test("what a customer's trigger writes to other mapped rows during a pull is captured", async () => {
  await customer.provision({ mappingId: "map_account", table: "account", sfObject: "Account" });
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
  await sql(`
    CREATE FUNCTION public.follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO salesforce.account (lastname) VALUES ('of ' || NEW.lastname);
      UPDATE salesforce.contact SET email = 'touched' WHERE id <> NEW.id;
      RETURN NULL;
    END $$;
    CREATE TRIGGER follow AFTER INSERT ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.follow()`);

  await store.apply(lease, page([image(2, 1, { lastname: "Noether" })]));

  const captured = await sql('SELECT table_name, sfid, "values" FROM salesforce._trigger_log ORDER BY table_name');
  expect(captured).toMatchObject([
    { table_name: "account", values: { lastname: "of Noether" } },
    { table_name: "contact", sfid: sfidOf(1), values: { email: "touched" } },
  ]);
});

test("capture includes a session that was silent before", async () => {
  await sql("BEGIN");
  await sql("SET LOCAL bridge.in_sync = 'contact'");
  await insert("Curie");
  await sql("COMMIT");
  const setting = await sql("SELECT current_setting('bridge.in_sync', true) AS value");

  await insert("Noether");

  expect(setting).toEqual([{ value: "" }]);
  expect(await log('"values"')).toMatchObject([{ values: { lastname: "Noether" } }]);
});

test("a mapping that only reads from Salesforce captures nothing", async () => {
  await aCustomer({ shape: contactShape({ direction: "sf_to_pg" }) });

  await insert("Curie");

  expect(await log("id")).toEqual([]);
  expect(await rows("_ab_lastop")).toEqual([{ _ab_lastop: null }]);
});

test("triggers that were written for Heroku Connect recognise a pull", async () => {
  await sql(`
    CREATE TABLE public.seen (lastname text);
    CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF salesforce.get_xmlbinary() <> 'base64' THEN INSERT INTO public.seen VALUES (NEW.lastname); END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER see AFTER INSERT ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.see()`);
  const { store, lease } = await customer.cycle();

  await insert("by the application");
  await store.apply(lease, page([image(1, 1, { lastname: "by Salesforce" })]));

  expect(await sql("SELECT lastname FROM public.seen")).toEqual([{ lastname: "by Salesforce" }]);
});
