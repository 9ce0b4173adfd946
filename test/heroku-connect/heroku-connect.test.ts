import { Client } from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { herokuConnectSchemas } from "../../lib/heroku-connect/inspect-heroku-connect.ts";
import {
  type Customer,
  createCustomer,
  image,
  orgTime,
  page,
  pushAll,
  sfidOf,
  untilSomebodyWaits,
} from "../adapters/postgres/customer.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION, herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { createTestDatabase, type TestDatabase } from "../support/worlds/postgres.ts";
import { column, contactShape } from "../support/worlds/shapes.ts";
import { adoptSchema as adoptSchemaOf, sqlOf, WAY_BACK } from "./their-database.ts";

let customer: Customer;
afterEach(() => customer.close());

const CONTACT = {
  table: "contact",
  columns: {
    amount__c: "double precision",
    at__c: "timestamp without time zone",
    donotcall: "boolean",
    email: "varchar(80)",
    key__c: "varchar(20)",
    lastname: "varchar(80)",
    unmapped__c: "text",
  },
  upsertColumn: "key__c",
};
const SHAPE = contactShape({
  columns: [
    column("Amount__c", { type: "double", precision: 10, scale: 2 }),
    column("At__c", { type: "datetime" }),
    column("DoNotCall", { type: "boolean" }),
    column("Email", { type: "email" }),
    column("Key__c"),
    column("LastName"),
  ],
  upsertField: "Key__c",
});

/** What Heroku Connect has made and filled with three records, which each test copies. */
let theirs: TestDatabase;
beforeAll(async () => {
  theirs = await createTestDatabase();
  const client = new Client({ connectionString: theirs.url });
  await client.connect();
  await client.query("SET timezone = 'Europe/Berlin'");
  await client.query(herokuConnectSchema([CONTACT, { table: "lead", columns: { lastname: "varchar(80)" } }]));
  await client.query(AS_HEROKU_CONNECT);
  for (const number of [1, 2, 3]) {
    await client.query(
      `INSERT INTO salesforce.contact (sfid, systemmodstamp, isdeleted, lastname, key__c, amount__c, at__c, donotcall)
       VALUES ($1, $2, false, $3, $4, 0.1, '2026-03-01 00:30:00', false)`,
      [sfidOf(number), `2026-11-20 12:00:0${number}`, `Record ${number}`, `K-${number}`],
    );
  }
  await client.end();
});
afterAll(() => theirs.close());

/** Such a database, in a server whose clocks are Berlin's. */
async function theirDatabase(): Promise<Customer> {
  const made = await createCustomer({ shape: SHAPE, like: theirs });
  const [here] = await made.sql("SELECT current_database() AS name");
  await made.sql(`ALTER DATABASE ${here?.["name"]} SET timezone = 'Europe/Berlin'; SET timezone = 'Europe/Berlin'`);
  await made.sql(AS_THE_APPLICATION);
  return made;
}

const adoptSchema = () => adoptSchemaOf(customer.url);

async function adopted(): Promise<Customer> {
  const made = await theirDatabase();
  await adoptSchemaOf(made.url);
  await made.provision();
  return made;
}

const log = () =>
  customer.sql('SELECT action, record_id::int, sfid, old, "values", state FROM salesforce._trigger_log ORDER BY id');
const theirLog = () => customer.sql("SELECT action, state FROM salesforce._hc_trigger_log ORDER BY id");
const conflict = (words: string) => ({ code: "CONFLICT", message: expect.stringContaining(words) });
const captured = async () => (await log()).map(({ values }) => values);
async function triggersOf(table: string): Promise<readonly unknown[]> {
  const text = "SELECT tgname FROM pg_trigger WHERE tgrelid = $1::regclass AND NOT tgisinternal ORDER BY 1";
  return (await customer.sql(text, [`salesforce.${table}`])).map(({ tgname }) => tgname);
}

test("a schema with Heroku Connect's log is refused untouched, and the remedy is named", async () => {
  customer = await theirDatabase();

  await expect(customer.provision()).rejects.toMatchObject(conflict("bridge migrate heroku-connect FILE"));
  expect(await triggersOf("contact")).toEqual(["hc_contact_logtrigger", "hc_contact_status_trigger"]);
  expect(await customer.sql("SELECT to_regclass('salesforce._hc_trigger_log') AS moved")).toEqual([{ moved: null }]);
});

test("a log that is not Heroku Connect's is refused even for an adoption", async () => {
  customer = await createCustomer({ provisioned: false });
  await customer.sql("CREATE SCHEMA salesforce; CREATE TABLE salesforce._trigger_log (id serial PRIMARY KEY)");

  await expect(adoptSchema()).rejects.toMatchObject(conflict("is not Heroku Connect's"));
  const tables = "SELECT relname FROM pg_class WHERE relnamespace = 'salesforce'::regnamespace AND relkind = 'r'";
  expect(await customer.sql(tables)).toEqual([{ relname: "_trigger_log" }]);
});

test("until a table is adopted Heroku Connect's triggers capture it, from then on ours do", async () => {
  customer = await theirDatabase();
  await adoptSchema();
  await customer.sql("UPDATE salesforce.contact SET email = 'before@example.com' WHERE id = 1");
  await customer.sql("INSERT INTO salesforce.lead (lastname) VALUES ('Not adopted')");

  await customer.provision();
  await customer.sql("UPDATE salesforce.contact SET email = 'after@example.com' WHERE id = 2");
  await customer.sql("INSERT INTO salesforce.lead (lastname) VALUES ('Not adopted either')");

  expect(await log()).toMatchObject([
    { action: "UPDATE", record_id: 1, sfid: sfidOf(1), old: { email: null }, values: { email: "before@example.com" } },
    { action: "UPDATE", record_id: 2, sfid: sfidOf(2), old: { email: null }, values: { email: "after@example.com" } },
  ]);
  expect(await theirLog()).toEqual([
    { action: "UPDATE", state: "REQUEUED" },
    { action: "INSERT", state: "NEW" },
    { action: "INSERT", state: "NEW" },
  ]);
  expect(await triggersOf("lead")).toEqual(["hc_lead_logtrigger", "hc_lead_status_trigger"]);
  expect((await triggersOf("contact")).filter((name) => String(name).startsWith("hc_"))).toEqual([]);
  const { takenOver } = await herokuConnectSchemas.look({ url: customer.url, schema: "salesforce" });
  expect(takenOver).toEqual([{ table: "contact", lockedMs: expect.any(Number) }]);
});

test("waiting changes are taken over once, in order, as the columns hold their values, whatever zone they were created in", async () => {
  customer = await theirDatabase();
  const tricky = 'a "b" \\ c=>"d", \n {x} => NULL';
  await customer.sql(
    `INSERT INTO salesforce.contact (lastname, key__c, amount__c, at__c, donotcall, unmapped__c)
     VALUES ($1, 'K-9', 1234567.1, '2026-06-01 12:00:00', true, 'x')`,
    [tricky],
  );
  await customer.sql("UPDATE salesforce.contact SET at__c = at__c + interval '1 hour', amount__c = NULL WHERE id = 1");
  await customer.sql("UPDATE salesforce.contact SET unmapped__c = 'nothing for Salesforce' WHERE id = 2");
  await customer.sql("UPDATE salesforce.contact SET email = email WHERE id = 2");
  await customer.sql("DELETE FROM salesforce.contact WHERE id = 3");

  await adoptSchema();
  await customer.provision();
  await customer.provision({ configVersion: 2 });

  const [at, state] = [{ at__c: "2026-03-01 00:30:00+00" }, "NEW"];
  expect(await log()).toEqual([
    {
      ...{ action: "INSERT", record_id: 4, sfid: null, old: null, state },
      values: {
        ...{ amount__c: "1234567.1", at__c: "2026-06-01 12:00:00+00", donotcall: "true" },
        ...{ email: null, key__c: "K-9", lastname: tricky },
      },
    },
    {
      ...{ action: "UPDATE", record_id: 1, sfid: sfidOf(1), old: { amount__c: "0.1", ...at }, state },
      values: { amount__c: null, at__c: "2026-03-01 01:30:00+00" },
    },
    {
      ...{ action: "DELETE", record_id: 3, sfid: sfidOf(3), values: null, state },
      old: { amount__c: "0.1", ...at, donotcall: "false", email: null, key__c: "K-3", lastname: "Record 3" },
    },
  ]);
  const states = ["REQUEUED", "REQUEUED", "IGNORED", "IGNORE", "REQUEUED"];
  expect((await theirLog()).map((change) => change["state"])).toEqual(states);
});

test("a change that cannot be read is named, and Heroku Connect continues capturing", async () => {
  customer = await theirDatabase();
  await customer.sql("UPDATE salesforce.contact SET email = 'x' WHERE id = 1");
  await customer.sql(`UPDATE salesforce._trigger_log SET "values" = '"email"=>"cut of'`);
  await adoptSchema();

  await expect(customer.provision()).rejects.toMatchObject(conflict("its change 1 is not an hstore"));
  expect(await triggersOf("contact")).toEqual(["hc_contact_logtrigger", "hc_contact_status_trigger"]);

  await customer.sql("UPDATE salesforce._hc_trigger_log SET state = 'IGNORED'");
  await customer.provision();
  expect(await log()).toEqual([]);
});

test("of what Heroku Connect failed to send, the last change of a row can be retried, and older ones are left", async () => {
  customer = await theirDatabase();
  const failed = async (id: number, state: string, record: number, message: string | null) =>
    customer.sql(
      `INSERT INTO salesforce._trigger_log_archive (id, txid, created_at, processed_at, state, action, table_name, record_id, sfid, old, "values", sf_message)
       VALUES ($1, 1, '2026-11-19 10:00+00', '2026-11-19 11:00+00', $2, 'UPDATE', 'contact', $3, $4, '"email"=>NULL', '"email"=>"e${id}"', $5)`,
      [id, state, record, sfidOf(record), message],
    );
  await failed(901, "FAILED", 1, "old trouble");
  await failed(902, "SUCCESS", 1, null);
  await failed(903, "FAILED", 1, "FIELD_CUSTOM_VALIDATION_EXCEPTION: no");
  await failed(904, "FAILED", 2, "it was synced since");
  await failed(905, "FAILED", 9, "DELETE_FAILED: no");
  await customer.sql("UPDATE salesforce._trigger_log_archive SET action = 'DELETE' WHERE id = 905");
  await customer.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER USER");
  await customer.sql("UPDATE salesforce.contact SET _hc_lastop = 'FAILED' WHERE id = 1");
  await customer.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");

  await adoptSchema();
  await customer.provision();

  const changes = "SELECT record_id::int, state, sf_message, processed_at, last_operation FROM salesforce._trigger_log";
  expect(await customer.sql(changes)).toEqual([
    {
      ...{ record_id: 1, state: "FAILED", last_operation: "FAILED" },
      ...{ sf_message: "FIELD_CUSTOM_VALIDATION_EXCEPTION: no", processed_at: new Date("2026-11-19T11:00:00Z") },
    },
    expect.objectContaining({ record_id: 9, state: "FAILED", sf_message: "DELETE_FAILED: no" }),
  ]);
  expect(await customer.sql("SELECT table_name, failed::int FROM salesforce._bridge_totals")).toEqual([
    { table_name: "contact", failed: 2 },
  ]);
  expect(await customer.sql("SELECT _ab_lastop, _ab_err FROM salesforce.contact WHERE id = 1")).toEqual([
    { _ab_lastop: "FAILED", _ab_err: "FIELD_CUSTOM_VALIDATION_EXCEPTION: no" },
  ]);
});

test("pulls start a quarter of an hour before the newest stamp, deletions too, and a table that was not filled is loaded", async () => {
  customer = await adopted();
  await customer.provision({ mappingId: "map_lead", table: "lead", columns: [column("LastName")], upsertField: null });

  const { begun } = await customer.cycle();

  const newest = new Date(orgTime(3).getTime() - 15 * 60_000);
  expect(begun.marks).toMatchObject({ position: newest, slow: null, deleted: newest });
  expect(begun.marks.load).toMatchObject({ kind: "sweep", afterRow: 0 }); // rows are looked up by their ids
  expect(await customer.sql("SELECT position FROM salesforce._bridge_state WHERE mapping_id = 'map_lead'")).toEqual([
    { position: null },
  ]);
});

test("a column that Heroku Connect did not have is filled", async () => {
  customer = await theirDatabase();
  await adoptSchema();
  await customer.provision({ columns: [...SHAPE.columns, column("Phone")] });

  expect((await customer.cycle()).begun.marks.load).toMatchObject({ kind: "backfill", afterRow: null });
});

test("columns keep the types that Heroku Connect gave them, and values travel exactly, in UTC", async () => {
  customer = await adopted();
  const { store, lease } = await customer.cycle();

  const applied = await store.apply(
    lease,
    page([
      image(1, 10, { amount__c: "0.30", at__c: "2026-07-01T10:00:00.000+0200", lastname: "Applied", key__c: "K-1" }),
      image(2, 2, { amount__c: "0.1", at__c: "2026-03-01T00:30:00.000Z", lastname: "Record 2", key__c: "K-2" }),
    ]),
  );
  await customer.sql(
    "UPDATE salesforce.contact SET amount__c = amount__c + 1, at__c = '2026-08-01 00:00:00' WHERE id = 2",
  );
  const unseen = await store.unseen(SHAPE.mappingId, [{ sfid: sfidOf(3), systemModstamp: orgTime(3) }]);
  const [change] = await store.claim(lease, 10);

  expect(applied).toMatchObject({ updated: 1, unchanged: 1 });
  expect(unseen).toEqual([]);
  const types = "amount__c, at__c::text, systemmodstamp::text AS stamp, pg_typeof(amount__c)::text AS type";
  expect(await customer.sql(`SELECT ${types} FROM salesforce.contact WHERE id = 1`)).toEqual([
    { amount__c: 0.3, at__c: "2026-07-01 08:00:00", stamp: "2026-11-20 12:00:10", type: "double precision" },
  ]);
  expect(change?.values).toEqual({ amount__c: "1.1", at__c: "2026-08-01 00:00:00+00" });
});

test("queries on _hc_lastop and _hc_err continue answering in Heroku Connect's words", async () => {
  customer = await adopted();
  const says = async (id: number) => {
    const [row] = await customer.sql("SELECT _hc_lastop, _hc_err FROM salesforce.contact WHERE id = $1", [id]);
    return [row?.["_hc_lastop"], row?.["_hc_err"]];
  };
  const words: unknown[] = [await says(1)];

  await customer.sql("UPDATE salesforce.contact SET lastname = 'Changed' WHERE id = 1");
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('New')");
  words.push(await says(1), await says(4));
  const { store, lease } = await customer.cycle();
  await pushAll({ store, lease }, () => sfidOf(4), orgTime(20));
  words.push(await says(1), await says(4));
  await customer.sql("UPDATE salesforce.contact SET lastname = 'Wrong' WHERE id = 1");
  const [change] = await store.claim(lease, 10);
  const changeIds = [change?.id ?? 0];
  await store.markSent(lease, "b", changeIds);
  const error = "DUPLICATE_VALUE: it is there";
  await store.settle(lease, [{ kind: "refused", changeIds, recordId: 1, action: "UPDATE", error }]);
  words.push(await says(1));
  await store.apply(lease, page([image(1, 30, { lastname: "From there" })]));
  words.push(await says(1));

  expect(words).toEqual([
    ...[
      ["SYNCED", null],
      ["PENDING", null],
      ["PENDING", null],
      ["UPDATED", null],
      ["INSERTED", null],
    ],
    ["FAILED", '{"msg" : "DUPLICATE_VALUE: it is there"}'],
    ["SYNCED", null],
  ]);
});

test("what would not be sent is refused, not lost: a row captured again by Heroku Connect's own function", async () => {
  customer = await theirDatabase();
  await adoptSchema();
  const again = (table: string) =>
    customer.sql(
      `SELECT salesforce.hc_capture_update_from_row(hstore(t.*), '${table}', ARRAY['lastname']) FROM salesforce.${table} t LIMIT 1`,
    );
  await again("contact");
  await customer.provision();

  await expect(again("contact")).rejects.toThrow(/captured by Bridge/);
  expect(await captured()).toEqual([{ lastname: "Record 1" }]);
});

test("a user in the middle of a write keeps it, and the schema waits for it", async () => {
  customer = await theirDatabase();
  const other = await customer.connect();
  await other.query("BEGIN");
  await other.query("UPDATE salesforce.contact SET email = 'in time' WHERE id = 1");

  const adopted = adoptSchema();
  await untilSomebodyWaits(customer.application);
  await other.query("UPDATE salesforce.contact SET email = 'and again' WHERE id = 2");
  await other.query("COMMIT");
  await adopted;
  await customer.provision();

  expect(await captured()).toEqual([{ email: "in time" }, { email: "and again" }]);
});

test("going back is as documented: Heroku Connect's triggers capture to its log again, and it can be left again", async () => {
  customer = await adopted();
  await customer.sql("UPDATE salesforce.contact SET email = 'ours' WHERE id = 1");

  await customer.sql(sqlOf(WAY_BACK));
  await customer.sql("UPDATE salesforce.contact SET email = 'theirs' WHERE id = 2");

  expect(await customer.sql('SELECT record_id, state, "values" FROM salesforce._trigger_log')).toEqual([
    { record_id: 2, state: "NEW", values: '"email"=>"theirs"' },
  ]);
  expect(await customer.sql("SELECT count(*)::int AS kept FROM salesforce._bridge_trigger_log")).toEqual([{ kept: 1 }]);
  await adoptSchema();
  await customer.provision();
  expect(await captured()).toEqual([{ email: "theirs" }]);
});

test("tables that are adopted several times at once change hands once, no call fails, and a get_xmlbinary() of Heroku Connect's own stays", async () => {
  customer = await theirDatabase();
  await customer.sql(
    "CREATE FUNCTION salesforce.get_xmlbinary() RETURNS text LANGUAGE sql AS $$ SELECT current_setting('xmlbinary') || '' $$",
  );
  await customer.sql("UPDATE salesforce.contact SET email = 'waits' WHERE id = 1");
  await customer.sql("INSERT INTO salesforce.lead (lastname) VALUES ('waits')");
  await adoptSchema();
  const lead = { mappingId: "map_lead", table: "lead", columns: [column("LastName")], upsertField: null };

  await Promise.all([1, 2, 3].flatMap(() => [customer.provision(), customer.provision(lead)]));

  expect(await captured()).toEqual(expect.arrayContaining([{ email: "waits" }, { lastname: "waits" }]));
  expect(await log()).toHaveLength(2);
  expect(await customer.sql("SELECT trigger_name FROM salesforce._bridge_hc_triggers ORDER BY 1")).toEqual(
    ["contact", "lead"].flatMap((table) =>
      ["logtrigger", "status_trigger"].map((kind) => ({ trigger_name: `hc_${table}_${kind}` })),
    ),
  );
  const functions = "SELECT salesforce.get_xmlbinary(), public.get_xmlbinary() AS in_public";
  expect(await customer.sql(functions)).toEqual([{ get_xmlbinary: "base64", in_public: "base64" }]);
});

test("an application role with rights on its table alone writes all the while without an error, and each of its writes is captured once", async () => {
  customer = await theirDatabase();
  const role = `app_${customer.url.slice(-12)}`;
  await customer.asSuperuser(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT USAGE ON SCHEMA salesforce TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON salesforce.contact, salesforce._trigger_log TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA salesforce TO ${role}`);
  const application = await customer.connect({ user: role, password: "p" });
  let written = 0;
  let isDone = false;
  const writing = (async () => {
    while (!isDone) {
      await application.query("INSERT INTO salesforce.contact (lastname) VALUES ('Busy')");
      written += 1;
    }
  })();
  const fiveMore = async () => {
    const afterwards = written + 5;
    while (written < afterwards) await Promise.race([writing, customer.sql("SELECT")]);
  };

  await fiveMore();
  await adoptSchema();
  await fiveMore();
  await Promise.all([customer.provision(), customer.provision()]);
  await fiveMore();
  isDone = true;
  await writing;
  await application.end();
  await customer.asSuperuser(`DROP OWNED BY ${role}; DROP ROLE ${role}`);

  const count = "SELECT count(*)::int AS n, count(DISTINCT record_id)::int AS rows FROM salesforce._trigger_log";
  expect(await customer.sql(count)).toEqual([{ n: written, rows: written }]);
  expect(await customer.sql("SELECT FROM salesforce._hc_trigger_log WHERE state = 'NEW'")).toEqual([]);
});
