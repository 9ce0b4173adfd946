import { afterEach, expect, test } from "vitest";
import { longTest } from "../../../support/run/whole-grid.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, page, sfidOf } from "../customer.ts";

let customer: Customer;
afterEach(() => customer.close());

const log = () =>
  customer.sql('SELECT action, record_id::int, sfid, old, "values", state FROM salesforce._trigger_log ORDER BY id');

test("only the columns that an update changes are logged, with what they held before", async () => {
  customer = await createCustomer();
  await customer.sql(
    "INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', 'm@example.com'), ('Noether', NULL)",
  );

  await customer.sql("UPDATE salesforce.contact SET email = NULL, lastname = lastname WHERE lastname = 'Curie'");
  await customer.sql("UPDATE salesforce.contact SET email = email, _ab_err = 'mine'");

  expect((await log()).slice(2)).toEqual([
    {
      action: "UPDATE",
      record_id: 1,
      sfid: null,
      old: { email: "m@example.com" },
      values: { email: null },
      state: "NEW",
    },
  ]);
});

test("values are logged exactly: digits, instants, quotes, emoji", async () => {
  customer = await createCustomer({
    shape: contactShape({
      columns: [
        column("Amount__c", { type: "currency", precision: 18, scale: 2 }),
        column("At__c", { type: "datetime" }),
        column("Big__c", { type: "long" }),
        column("DoNotCall", { type: "boolean" }),
        column("LastName"),
      ],
    }),
  });
  await customer.sql("SET timezone = 'Asia/Kolkata'; SET datestyle = 'German'");

  await customer.sql(
    `INSERT INTO salesforce.contact (amount__c, at__c, big__c, donotcall, lastname)
     VALUES (9007199254740993.10, '2026-03-01 05:30:00.123+05:30', 9007199254740993, true, $1)`,
    ['O"Neil\\ \n\t😀'],
  );
  const { store, lease } = await customer.cycle();
  const [change] = await store.claim(lease, 1);

  expect(change?.values).toEqual({
    amount__c: "9007199254740993.10",
    at__c: "2026-03-01 00:00:00.123+00",
    big__c: "9007199254740993",
    donotcall: "true",
    lastname: 'O"Neil\\ \n\t😀',
  });
});

test("a change makes its row PENDING and forgets the old error, whatever the statement says of them", async () => {
  customer = await createCustomer();
  await customer.sql("INSERT INTO salesforce.contact (lastname, _ab_lastop, _ab_err) VALUES ('Curie', NULL, 'old')");
  const marks = () => customer.sql("SELECT _ab_lastop, _ab_err FROM salesforce.contact");
  const afterInsert = await marks();
  await customer.sql("SET bridge.in_sync = 'contact'");
  await customer.sql("UPDATE salesforce.contact SET _ab_lastop = 'FAILED', _ab_err = 'refused'");
  await customer.sql("RESET bridge.in_sync");

  await customer.sql("UPDATE salesforce.contact SET lastname = 'Noether', _ab_lastop = 'SYNCED'");

  expect(afterInsert).toEqual([{ _ab_lastop: "PENDING", _ab_err: null }]);
  expect(await marks()).toEqual([{ _ab_lastop: "PENDING", _ab_err: null }]);
});

test("a deleted row is logged with what it held; TRUNCATE only warns", async () => {
  customer = await createCustomer();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie'), ('Noether')");
  const warnings: (string | undefined)[] = [];
  customer.application.on("notice", ({ message }) => warnings.push(message));

  await customer.sql("DELETE FROM salesforce.contact WHERE id = 1");
  await customer.sql("TRUNCATE salesforce.contact");

  expect((await log()).slice(2)).toMatchObject([{ action: "DELETE", record_id: 1, old: { lastname: "Curie" } }]);
  expect(warnings).toEqual(["TRUNCATE of contact deletes nothing in Salesforce"]);
});

test("an application role with rights on its table alone can write it", async () => {
  customer = await createCustomer();
  const role = `app_${Date.now()}`;
  await customer.asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD 'app'`);
  await customer.sql(`GRANT USAGE ON SCHEMA salesforce TO ${role}`);
  await customer.sql(`GRANT SELECT, INSERT, UPDATE, DELETE ON salesforce.contact TO ${role}`);
  await customer.sql(`GRANT USAGE ON SEQUENCE salesforce.contact_id_seq TO ${role}`);
  const application = await customer.connect({ user: role, password: "app" });

  await application.query("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await application.query("UPDATE salesforce.contact SET lastname = 'Noether'");
  await application.query("DELETE FROM salesforce.contact");

  expect((await log()).map(({ action }) => action)).toEqual(["INSERT", "UPDATE", "DELETE"]);
  await expect(application.query("SELECT FROM salesforce._trigger_log")).rejects.toThrow(/permission denied/);
  await application.end();
  await customer.asSuperuser(`DROP OWNED BY ${role}`);
  await customer.asSuperuser(`DROP ROLE ${role}`);
});

test("capture calls no function of another role", async () => {
  customer = await createCustomer();
  await customer.sql("CREATE SCHEMA evil");
  await customer.sql(
    'CREATE FUNCTION evil.jsonb_object(text[], text[]) RETURNS jsonb LANGUAGE sql AS $$ SELECT \'{"evil": "yes"}\'::jsonb $$',
  );
  await customer.sql("SET search_path = evil, pg_catalog");

  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

  expect(await log()).toMatchObject([{ values: { lastname: "Curie" } }]);
});

test("what a customer's trigger writes to other mapped rows during a pull is captured", async () => {
  customer = await createCustomer();
  await customer.provision({ mappingId: "map_account", table: "account", sfObject: "Account" });
  await customer.sql(`
    CREATE FUNCTION public.follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO salesforce.account (lastname) VALUES ('of ' || NEW.lastname);
      UPDATE salesforce.contact SET email = 'touched' WHERE id <> NEW.id;
      RETURN NULL;
    END $$`);
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
  await customer.sql(
    "CREATE TRIGGER follow AFTER INSERT ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.follow()",
  );

  await store.apply(lease, page([image(2, 1, { lastname: "Noether" })]));

  const captured = await customer.sql(
    'SELECT table_name, action, sfid, "values" FROM salesforce._trigger_log ORDER BY table_name',
  );
  expect(captured).toMatchObject([
    { table_name: "account", action: "INSERT", values: { lastname: "of Noether" } },
    { table_name: "contact", action: "UPDATE", sfid: sfidOf(1), values: { email: "touched" } },
  ]);
});

test("capture includes a session that was silent before", async () => {
  customer = await createCustomer();
  await customer.sql("BEGIN");
  await customer.sql("SET LOCAL bridge.in_sync = 'contact'");
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await customer.sql("COMMIT");
  const setting = await customer.sql("SELECT current_setting('bridge.in_sync', true) AS value");

  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Noether')");

  expect(setting).toEqual([{ value: "" }]);
  expect(await log()).toMatchObject([{ values: { lastname: "Noether" } }]);
});

test("a mapping that only reads from Salesforce captures nothing", async () => {
  customer = await createCustomer({ shape: contactShape({ direction: "sf_to_pg" }) });

  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

  expect(await log()).toEqual([]);
  expect(await customer.sql("SELECT _ab_lastop FROM salesforce.contact")).toEqual([{ _ab_lastop: null }]);
});

test("a row that gets another key takes its waiting changes along", async () => {
  customer = await createCustomer();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

  await customer.sql("UPDATE salesforce.contact SET id = 77");

  expect(await log()).toMatchObject([
    { action: "INSERT", record_id: 77 },
    { action: "UPDATE", record_id: 77, values: { lastname: "Curie" } },
  ]);
});

longTest("a large update is captured as quickly in a session that made small ones before as in a new one", async () => {
  customer = await createCustomer();
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, 30000) i");
  const began = performance.now();
  await (await customer.connect()).query("UPDATE salesforce.contact SET email = 'new@example.com'");
  const inNewSession = performance.now() - began;
  // Row by row it would take a thousand times as long; ended early, so that the failure comes soon.
  await customer.sql(`SET statement_timeout = ${Math.ceil(30 * inNewSession)}`);
  for (let round = 0; round < 6; round++) {
    await customer.sql("UPDATE salesforce.contact SET email = $1 WHERE id = 1", [`${round}@example.com`]);
  }

  await customer.sql("UPDATE salesforce.contact SET email = 'all@example.com'");

  const [counted] = await customer.sql(
    "SELECT count(*)::int AS updates FROM salesforce._trigger_log WHERE action = 'UPDATE'",
  );
  expect(counted).toEqual({ updates: 60_006 });
});

test("triggers that were written for Heroku Connect recognise a pull", async () => {
  customer = await createCustomer();
  await customer.sql("CREATE TABLE public.seen (lastname text)");
  await customer.sql(`
    CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF salesforce.get_xmlbinary() <> 'base64' THEN INSERT INTO public.seen VALUES (NEW.lastname); END IF;
      RETURN NULL;
    END $$`);
  await customer.sql(
    "CREATE TRIGGER see AFTER INSERT ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.see()",
  );
  const { store, lease } = await customer.cycle();

  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('by the application')");
  await store.apply(lease, page([image(1, 1, { lastname: "by Salesforce" })]));

  expect(await customer.sql("SELECT lastname FROM public.seen")).toEqual([{ lastname: "by Salesforce" }]);
});
