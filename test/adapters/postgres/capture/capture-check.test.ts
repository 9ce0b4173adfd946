import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { cycleStoreOn } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { captureAllOf, captureNext } from "../../../../lib/adapters/postgres/schema/capture-existing.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import { metadata } from "../../../../lib/adapters/postgres/session/sql.ts";
import { startPostgres } from "../../../../lib/local/postgres/start-postgres.ts";
import { keepSecret, passwordIn } from "../../../support/run/secrets.ts";
import { temporaryFolder } from "../../../support/run/temporary-folder.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { image, page, untilSomebodyWaits } from "../customer.ts";
import { request } from "../cycles.ts";
import { aCustomerForEachTest, connection, customer, log, rows, sql, transaction } from "../world.ts";

aCustomerForEachTest();

const logged = async () =>
  (await log(`action || coalesce(' ' || ("values" ->> 'lastname'), '') AS change`)).map(({ change }) => change);
const captureOff = async () => (await customer.cycle()).begun.captureOff;

describe("a session that asks for no triggers, as a restore's,", () => {
  const asReplica = async (text: string) => {
    await customer.asSuperuser("SET session_replication_role = replica");
    await customer.asSuperuser(text);
  };

  test("is not captured, and that is as the mapping asks", async () => {
    await asReplica("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

    expect(await logged()).toEqual([]);
    expect(await captureOff()).toBeNull();
  });

  test("is captured by a mapping that asks for it, row by row and statement by statement", async () => {
    await customer.provision({ configVersion: 2, capture: "always" });
    await asReplica("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
    await asReplica("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
    await asReplica("UPDATE salesforce.contact SET id = 5");
    await asReplica("DELETE FROM salesforce.contact");

    expect(await logged()).toEqual(["INSERT Curie", "UPDATE Sklodowska", "UPDATE Sklodowska", "DELETE"]);
    expect(await captureOff()).toBeNull();
  });

  test("as ours may be, by a setting of the database, is still recognised as ours", async () => {
    await customer.provision({ configVersion: 2, capture: "always" });
    const name = new URL(customer.url).pathname.slice(1);
    await customer.asSuperuser(`ALTER DATABASE ${name} SET session_replication_role = replica`);
    const { store, lease } = await customer.cycle();

    await store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
    await store.apply(lease, page([image(1, 2, { lastname: "Sklodowska" })]));
    await store.apply(lease, page([image(1, 3, {}, true)], { lane: "deleted" }));

    expect([await logged(), await rows("id")]).toEqual([[], []]);
  });
});

test("ENABLE TRIGGER ALL after a restore leaves a mapping off that asks for every session's writes", async () => {
  await customer.provision({ configVersion: 2, capture: "always" });
  await sql("ALTER TABLE salesforce.contact DISABLE TRIGGER ALL; ALTER TABLE salesforce.contact ENABLE TRIGGER ALL");

  const ours = ["insert", "update", "delete", "truncate", "rekey"].map((event) => `_bridge_${event}`);
  const triggers = [...ours, "zz_bridge_insert", "zz_bridge_update"];
  expect(await captureOff()).toEqual({ why: "triggers", triggers });
});

test("a row that is changed while all rows are captured is sent as it is in the end", async () => {
  await sql(
    "INSERT INTO salesforce.contact (id, lastname, sfid) VALUES (1, 'Curie', '003000000000001AAA'), (2, 'Hopper', NULL)",
  );
  await sql("DELETE FROM salesforce._trigger_log");
  const session = await openSession(connection());
  await sql(captureAllOf(metadata("salesforce")), ["map_contact"]);
  const application = await transaction("UPDATE salesforce.contact SET lastname = 'Sklodowska' WHERE id = 1");

  const captured = captureNext(session, "salesforce", "map_contact");
  await untilSomebodyWaits(customer.application);
  await application.query("COMMIT");
  expect(await captured).toBe(true);
  await application.query("UPDATE salesforce.contact SET lastname = 'Murray' WHERE id = 2");
  expect(await captureNext(session, "salesforce", "map_contact")).toBe(false);
  await session.close();

  expect(await logged()).toEqual(["UPDATE Sklodowska", "UPDATE Sklodowska", "INSERT Hopper", "UPDATE Murray"]);
  expect(await sql("SELECT shape ? 'capturing' AS marked, lease_until FROM salesforce._bridge_state")).toEqual([
    { marked: false, lease_until: null },
  ]);
});

longTest("a table that a logical subscription feeds is refused, one that is fed later is reported", async () => {
  const server = await startPostgres({ dataDir: temporaryFolder(), settings: { wal_level: "logical", fsync: "off" } });
  onTestFinished(() => server.close());
  keepSecret(passwordIn(server.superuserUrl));
  const inDatabase = async (pathname: string, user = {}) => {
    const { href } = Object.assign(new URL(server.superuserUrl), { pathname }, user);
    const client = new Client({ connectionString: href });
    await client.connect();
    onTestFinished(() => client.end());
    return { url: href, client };
  };
  const { client: admin } = await inDatabase("/postgres");
  await admin.query("CREATE DATABASE there");
  await admin.query("CREATE DATABASE here");
  const login = { username: "guest", password: "guest-of-this-test" };
  await admin.query(`CREATE ROLE guest LOGIN PASSWORD '${login.password}'; GRANT CREATE ON DATABASE here TO guest`);
  const [there, here, guest] = [
    await inDatabase("/there"),
    await inDatabase("/here"),
    await inDatabase("/here", login),
  ];
  const fed = { url: guest.url, schema: "salesforce" };
  const provisioner = createProvisioner(fed, () => new Date());
  const provision = (more: Parameters<typeof contactShape>[0] = {}) =>
    provisioner.provision(mappingOf(contactShape(more)), contactShape(more));
  await provision();
  await there.client.query(`CREATE SCHEMA salesforce; CREATE TABLE salesforce.contact (id bigint PRIMARY KEY, lastname text);
    CREATE PUBLICATION contacts FOR TABLE salesforce.contact`);
  await there.client.query("SELECT pg_create_logical_replication_slot('contacts', 'pgoutput')");
  await here.client.query(
    `CREATE SUBSCRIPTION contacts CONNECTION '${there.url}' PUBLICATION contacts WITH (create_slot = false, copy_data = false)`,
  );
  await there.client.query("INSERT INTO salesforce.contact VALUES (77, 'Curie')");
  while ((await guest.client.query("SELECT FROM salesforce.contact")).rowCount === 0);
  const store = cycleStoreOn(await openSession(fed), "salesforce", () => new Date());
  const begun = await store.begin(request());
  await store.close();

  expect((await guest.client.query("SELECT FROM salesforce._trigger_log")).rowCount).toBe(0);
  expect(begun).toMatchObject({ held: true, captureOff: { why: "subscription" } });
  await expect(provision({ configVersion: 2 })).rejects.toThrow(
    /salesforce\.contact are not captured: a logical subscription feeds it.*ALTER SUBSCRIPTION/,
  );
  await expect(provision({ configVersion: 2, direction: "sf_to_pg" })).resolves.toMatchObject({ isCaptured: true });
  for (const end of ["ALTER SUBSCRIPTION contacts DISABLE", "ALTER SUBSCRIPTION contacts SET (slot_name = NONE)"])
    await here.client.query(end);
  await here.client.query("DROP SUBSCRIPTION contacts");
});
