import { randomUUID } from "node:crypto";
import type { Client } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../../../../lib/adapters/postgres/schema/migrate.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import { archiveLog } from "../../../../lib/heroku-connect/archive-log.ts";
import { herokuConnect } from "../../../../lib/heroku-connect/heroku-connect.ts";
import { herokuConnectSchema } from "../../../support/worlds/heroku-connect.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { aCustomerForEachTest, customer as admin } from "../world.ts";

/** Roles are the server's, so each test has its own. */
const PEOPLE = ["service", "writer", "reader", "nobody", "trigger"] as const;
type Person = (typeof PEOPLE)[number];
const roles = {} as Record<Person, string>;
const clients = {} as Record<Person, Client>;

aCustomerForEachTest({ provisioned: false });

/** A schema that an ordinary role owns and connects as, with two tables of Heroku Connect's; `contact` is mapped. */
beforeEach(async () => {
  const ending = randomUUID().slice(0, 8);
  for (const person of PEOPLE) {
    roles[person] = `${person}_${ending}`;
    await admin.asSuperuser(`CREATE ROLE ${roles[person]} LOGIN PASSWORD 'test'`);
    clients[person] = await admin.connect({ user: roles[person], password: "test" });
  }
  await admin.asSuperuser(`CREATE EXTENSION hstore SCHEMA public; GRANT CREATE ON SCHEMA public TO ${roles.service};
    DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO ${roles.service}', current_database()); END $$`);
  await clients.service.query(herokuConnectSchema([{ table: "contact", columns: { lastname: "varchar(80)" } }]));
  const session = await openSession(connection());
  await migrate(session, "salesforce", "w_1", { archiveLog }).finally(() => session.close());
  await provision();
  const { service, writer, reader, trigger } = roles;
  await clients.service.query(`
    GRANT USAGE ON SCHEMA salesforce TO ${writer}, ${reader}, ${trigger};
    GRANT SELECT ON salesforce.contact TO ${writer}, ${reader}, ${trigger};
    GRANT INSERT, UPDATE, DELETE ON salesforce.contact TO ${writer};
    GRANT USAGE ON SEQUENCE salesforce.contact_id_seq TO ${writer};
    GRANT TRIGGER ON salesforce.contact TO ${trigger};`);
  await clients.writer.query("INSERT INTO salesforce.contact (lastname) VALUES ('Curie'), ('Noether')");
  await admin.asSuperuser(
    "UPDATE salesforce._trigger_log SET state = 'SUCCESS', processed_at = now(), sfid = record_id",
  );
  expect(await admin.asSuperuser("SELECT rolsuper FROM pg_roles WHERE rolname = $1", [service])).toEqual([
    { rolsuper: false },
  ]);
});

afterEach(async () => {
  for (const client of Object.values(clients)) await client.end();
  for (const role of Object.values(roles)) await admin.asSuperuser(`DROP OWNED BY ${role} CASCADE`);
  await admin.asSuperuser(`DROP ROLE ${Object.values(roles).join(", ")}`);
});

test("a role that may only read gets no change of a record into the log", async () => {
  expect(await attacks(clients.reader)).toEqual(REFUSED);
  expect(await changes()).toEqual(["INSERT 1 SUCCESS", "INSERT 2 SUCCESS"]);

  await clients.writer.query("UPDATE salesforce.contact SET lastname = 'Meitner' WHERE id = 1");
  await clients.writer.query("UPDATE salesforce.contact SET id = 3 WHERE id = 1");
  await clients.writer.query("DELETE FROM salesforce.contact WHERE id = 2");
  expect((await changes()).slice(2), "who writes the mapped table is captured without EXECUTE").toEqual([
    "UPDATE 3 NEW",
    "UPDATE 3 NEW",
    "DELETE 2 NEW",
  ]);
});

test("where a role has EXECUTE all the same, its writes of a table of its own succeed and change nothing of ours", async () => {
  for (const { signature } of await ownFunctions()) {
    await clients.service.query(`GRANT EXECUTE ON FUNCTION ${signature} TO ${roles.reader}`);
  }
  const before = await metadata();

  expect(new Set(Object.values(await attacks(clients.reader)))).toEqual(new Set(["done"]));

  expect(await metadata()).toEqual(before);
});

test("a mapped table is captured whatever it is named, as a partition, and owned by a role that the service is a member of", async () => {
  await clients.service.query(`ALTER TABLE salesforce.contact RENAME TO person;
    INSERT INTO salesforce.person (lastname) VALUES ('Renamed');
    CREATE TABLE salesforce.parent_of_all (LIKE salesforce.person) PARTITION BY LIST (isdeleted);
    ALTER TABLE salesforce.parent_of_all ATTACH PARTITION salesforce.person DEFAULT`);
  await clients.service.query("INSERT INTO salesforce.person (lastname) VALUES ('In a partition')");
  await admin.asSuperuser(`GRANT ${roles.nobody} TO ${roles.service};
    ALTER TABLE salesforce.person OWNER TO ${roles.nobody}`);
  await clients.service.query("INSERT INTO salesforce.person (lastname) VALUES ('Of another')");
  await admin.asSuperuser(`REVOKE ${roles.nobody} FROM ${roles.service};
    GRANT INSERT ON salesforce.person TO ${roles.service}`);
  await clients.service.query("INSERT INTO salesforce.person (id, lastname) VALUES (9, 'Of a stranger')");

  const logged = await admin.asSuperuser(
    `SELECT "values" ->> 'lastname' AS lastname FROM salesforce._trigger_log ORDER BY id`,
  );
  expect(logged.slice(2)).toEqual([
    { lastname: "Renamed" },
    { lastname: "In a partition" },
    { lastname: "Of another" },
  ]);
});

const OWN_FUNCTIONS = [
  ...["begin_contact", "delete_contact", "detach", "insert_contact", "mark_contact", "refuse_old_log"],
  ...["rekey_contact", "serve_contact", "truncate_contact", "update_contact"],
].map((name) => `_bridge_${name}`);

test("each function of ours is its owner's alone; what asks whose a write is stays executable for all", async () => {
  const all = await admin.asSuperuser(
    `SELECT p.proname AS name, p.oid::regprocedure::text AS signature FROM pg_proc p
     WHERE p.pronamespace = 'salesforce'::regnamespace AND NOT starts_with(p.proname, 'hc_') ORDER BY 1`,
  );
  expect(all.map(({ name }) => name)).toEqual([...OWN_FUNCTIONS, "get_xmlbinary", "tlog_notify_trigger"]);

  const may: Record<string, string[]> = {};
  for (const { name, signature } of all) {
    may[String(name)] = await whoMay("has_function_privilege", String(signature), "EXECUTE");
  }

  expect(may).toEqual({
    ...Object.fromEntries(OWN_FUNCTIONS.map((name) => [name, ["service"]])),
    get_xmlbinary: PEOPLE,
    tlog_notify_trigger: PEOPLE, // Heroku Connect's own
  });
  const [{ signature } = { signature: "" }] = await ownFunctions();
  const onMapped = clients.trigger.query(
    `CREATE TRIGGER own AFTER DELETE ON salesforce.contact REFERENCING OLD TABLE AS old_rows EXECUTE FUNCTION ${signature}`,
  );
  await expect(onMapped).rejects.toThrow("permission denied for function");
});

test("each table of ours is its owner's alone, and a mapped one gives what was granted", async () => {
  const tables = await admin.asSuperuser(
    `SELECT c.relname AS name, c.oid::regclass::text AS table FROM pg_class c
     WHERE c.relnamespace = 'salesforce'::regnamespace AND c.relkind IN ('r', 'v') ORDER BY 1`,
  );
  const may: Record<string, Record<string, string>> = {};
  for (const { name, table } of tables) {
    const rights: Record<string, string> = {};
    for (const right of ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "TRIGGER"]) {
      const people = await whoMay("has_table_privilege", String(table), right);
      for (const person of people) rights[person] = `${rights[person] ?? ""} ${right}`.trim();
    }
    may[String(name)] = rights;
  }

  const owners = { service: "SELECT INSERT UPDATE DELETE TRUNCATE TRIGGER" };
  const { contact, ...ours } = may;
  expect(Object.keys(ours)).toEqual(expect.arrayContaining(["_bridge_state", "_trigger_log", "_trigger_log_archive"]));
  expect(Object.keys(ours).length).toBeGreaterThan(20);
  for (const [table, rights] of Object.entries(ours)) expect(rights, table).toEqual(owners);
  expect(contact).toEqual({
    ...owners,
    writer: "SELECT INSERT UPDATE DELETE",
    reader: "SELECT",
    trigger: "SELECT TRIGGER",
  });
});

test("what the owner's default privileges give to others is removed again", async () => {
  await clients.service.query(
    `ALTER DEFAULT PRIVILEGES IN SCHEMA salesforce GRANT EXECUTE ON FUNCTIONS TO ${roles.reader} WITH GRANT OPTION`,
  );
  await provision({ mappingId: "map_lead", table: "lead", sfObject: "Lead" });

  const [insert] = (await ownFunctions()).filter(({ signature }) => signature.includes("_bridge_insert_lead"));
  expect(await whoMay("has_function_privilege", String(insert?.signature), "EXECUTE")).toEqual(["service"]);
});

const REFUSED = Object.fromEntries(
  ["insert", "update", "delete", "rekey"].map((kind) => [
    kind,
    `permission denied for function salesforce._bridge_${kind}_contact`,
  ]),
);

/** Has each function that writes called by a table of the attacker's own, a copy of the mapped one; gives the results. */
async function attacks(attacker: Client): Promise<Record<string, string>> {
  const of = (kind: string) => `EXECUTE FUNCTION salesforce._bridge_${kind}_contact()`;
  const each = "FOR EACH STATEMENT";
  const ways: Record<string, readonly [trigger: string, write: string]> = {
    insert: [
      `AFTER INSERT ON mine REFERENCING NEW TABLE AS new_rows ${each}`,
      "INSERT INTO mine SELECT * FROM mine WHERE id = 1",
    ],
    update: [
      `AFTER UPDATE ON mine REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows ${each}`,
      "UPDATE mine SET lastname = 'Mine' WHERE id = 1",
    ],
    delete: [`AFTER DELETE ON mine REFERENCING OLD TABLE AS old_rows ${each}`, "DELETE FROM mine WHERE id = 1"],
    rekey: ["AFTER UPDATE ON mine FOR EACH ROW", "UPDATE mine SET id = 91 WHERE id = 1"],
  };
  const went: Record<string, string> = {};
  for (const [kind, [trigger, write]] of Object.entries(ways)) {
    await attacker.query("DROP TABLE IF EXISTS mine");
    await attacker.query("CREATE TEMP TABLE mine AS SELECT *, 'contact' AS table_name FROM salesforce.contact LIMIT 1");
    try {
      await attacker.query(`CREATE TRIGGER mine ${trigger} ${of(kind)}`);
      const { rowCount } = await attacker.query(write);
      went[kind] = rowCount === 1 ? "done" : `${rowCount} rows`;
    } catch (error) {
      went[kind] = String(error instanceof Error ? error.message : error);
    }
  }
  return went;
}

const connection = () => {
  const url = new URL(admin.url);
  Object.assign(url, { username: roles.service, password: "test" });
  return { url: url.href, schema: "salesforce" };
};

function provision(more: Parameters<typeof contactShape>[0] = {}) {
  const shape = contactShape(more);
  return createProvisioner(connection(), () => new Date(), herokuConnect).provision(mappingOf(shape), shape);
}

async function changes(): Promise<readonly string[]> {
  const rows = await admin.asSuperuser("SELECT action, record_id, state FROM salesforce._trigger_log ORDER BY id");
  return rows.map(({ action, record_id, state }) => `${action} ${record_id} ${state}`);
}

/** What our trigger functions could change. */
const metadata = async () => ({
  log: await admin.asSuperuser("SELECT * FROM salesforce._trigger_log ORDER BY id"),
  totals: await admin.asSuperuser("SELECT * FROM salesforce._bridge_totals ORDER BY table_name"),
});

const ownFunctions = async () =>
  (await admin.asSuperuser(
    `SELECT p.oid::regprocedure::text AS signature FROM pg_proc p WHERE p.pronamespace = 'salesforce'::regnamespace AND starts_with(p.proname, '_bridge_') ORDER BY 1`,
  )) as readonly { readonly signature: string }[];

async function whoMay(ask: string, what: string, right: string): Promise<string[]> {
  const people: string[] = [];
  for (const [person, role] of Object.entries(roles)) {
    const [row] = await admin.asSuperuser(`SELECT ${ask}($1::name, $2::text, $3) AS may`, [role, what, right]);
    if (row?.["may"] === true) people.push(person);
  }
  return people;
}
