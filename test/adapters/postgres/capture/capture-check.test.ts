import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
import { type Customer, createCustomer, image, page, untilSomebodyWaits } from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const logged = () =>
  customer.sql("SELECT action, \"values\" ->> 'lastname' AS lastname FROM salesforce._trigger_log ORDER BY id");

/** A write of a session that asks for no triggers, as a restore's. */
const asReplica = async (text: string) => {
  await customer.asSuperuser("SET session_replication_role = replica");
  await customer.asSuperuser(text);
};

describe("a session that asks for no triggers", () => {
  test("is not captured, and that is as the mapping asks", async () => {
    await asReplica("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

    expect(await logged()).toEqual([]);
    expect((await customer.cycle()).begun.captureOff).toBeNull();
  });

  test("is captured by a mapping that asks for it, row by row and statement by statement", async () => {
    await customer.provision({ configVersion: 2, capture: "always" });
    await asReplica("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
    await asReplica("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
    await asReplica("UPDATE salesforce.contact SET id = 5");
    await asReplica("DELETE FROM salesforce.contact");

    expect(await logged()).toEqual([
      { action: "INSERT", lastname: "Curie" },
      { action: "UPDATE", lastname: "Sklodowska" },
      { action: "UPDATE", lastname: "Sklodowska" },
      { action: "DELETE", lastname: null },
    ]);
    expect((await customer.cycle()).begun.captureOff).toBeNull();
  });

  test("as ours may be, by a setting of the database, is still recognised as ours", async () => {
    await customer.provision({ configVersion: 2, capture: "always" });
    const name = new URL(customer.url).pathname.slice(1);
    await customer.asSuperuser(`ALTER DATABASE ${name} SET session_replication_role = replica`);
    const { store, lease } = await customer.cycle();

    await store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
    await store.apply(lease, page([image(1, 2, { lastname: "Sklodowska" })]));
    await store.apply(lease, page([image(1, 3, {}, true)], { lane: "deleted" }));

    expect(await logged()).toEqual([]);
    expect(await customer.sql("SELECT FROM salesforce.contact")).toEqual([]);
  });
});

test("ENABLE TRIGGER ALL after a restore leaves a mapping off that asks for every session's writes", async () => {
  await customer.provision({ configVersion: 2, capture: "always" });
  await customer.sql(
    "ALTER TABLE salesforce.contact DISABLE TRIGGER ALL; ALTER TABLE salesforce.contact ENABLE TRIGGER ALL",
  );

  const { begun } = await customer.cycle();

  expect(begun.captureOff).toEqual({
    why: "triggers",
    triggers: [
      "_bridge_insert",
      "_bridge_update",
      "_bridge_delete",
      "_bridge_truncate",
      "_bridge_rekey",
      "zz_bridge_insert",
      "zz_bridge_update",
    ],
  });
});

test("a row that is changed while all rows are captured is sent as it is in the end", async () => {
  await customer.sql(
    "INSERT INTO salesforce.contact (id, lastname, sfid) VALUES (1, 'Curie', '003000000000001AAA'), (2, 'Hopper', NULL)",
  );
  await customer.sql("DELETE FROM salesforce._trigger_log");
  const [application, session] = [
    await customer.connect(),
    await openSession({ url: customer.url, schema: "salesforce" }),
  ];
  await customer.sql(captureAllOf(metadata("salesforce")), ["map_contact"]);
  await application.query("BEGIN; UPDATE salesforce.contact SET lastname = 'Sklodowska' WHERE id = 1");

  const captured = captureNext(session, "salesforce", "map_contact");
  await untilSomebodyWaits(customer.application);
  await application.query("COMMIT");
  expect(await captured).toBe(true);
  await application.query("UPDATE salesforce.contact SET lastname = 'Murray' WHERE id = 2");
  expect(await captureNext(session, "salesforce", "map_contact")).toBe(false);
  await session.close();

  expect(await logged()).toEqual([
    { action: "UPDATE", lastname: "Sklodowska" },
    { action: "UPDATE", lastname: "Sklodowska" },
    { action: "INSERT", lastname: "Hopper" },
    { action: "UPDATE", lastname: "Murray" },
  ]);
  expect(await customer.sql("SELECT shape ? 'capturing' AS marked, lease_until FROM salesforce._bridge_state")).toEqual(
    [{ marked: false, lease_until: null }],
  );
});

longTest(
  "a table that a logical subscription feeds is refused, and a mapping whose table is fed later is reported",
  async () => {
    const server = await startPostgres({
      dataDir: temporaryFolder(),
      settings: { wal_level: "logical", fsync: "off" },
    });
    keepSecret(passwordIn(server.superuserUrl));
    const inDatabase = async (name: string, user?: string) => {
      const url = new URL(server.superuserUrl);
      Object.assign(url, { pathname: `/${name}` }, user ? { username: user, password: "guest-of-this-test" } : {});
      const client = new Client({ connectionString: url.href });
      await client.connect();
      return { url: url.href, client };
    };
    const { client: admin } = await inDatabase("postgres");
    await admin.query("CREATE DATABASE there");
    await admin.query("CREATE DATABASE here");
    await admin.query("CREATE ROLE guest LOGIN PASSWORD 'guest-of-this-test'; GRANT CREATE ON DATABASE here TO guest");
    const [there, here, guest] = [
      await inDatabase("there"),
      await inDatabase("here"),
      await inDatabase("here", "guest"),
    ];
    const connection = { url: guest.url, schema: "salesforce" };
    const shape = contactShape();
    const provisioner = createProvisioner(connection, () => new Date());
    await provisioner.provision(mappingOf(shape), shape);
    await there.client.query(`CREATE SCHEMA salesforce; CREATE TABLE salesforce.contact (id bigint PRIMARY KEY, lastname text);
    CREATE PUBLICATION contacts FOR TABLE salesforce.contact`);
    await there.client.query("SELECT pg_create_logical_replication_slot('contacts', 'pgoutput')");
    await here.client.query(
      `CREATE SUBSCRIPTION contacts CONNECTION '${there.url}' PUBLICATION contacts WITH (create_slot = false, copy_data = false)`,
    );
    await there.client.query("INSERT INTO salesforce.contact VALUES (77, 'Curie')");
    while ((await guest.client.query("SELECT FROM salesforce.contact")).rowCount === 0);
    const { rows: captured } = await guest.client.query("SELECT FROM salesforce._trigger_log");

    const store = cycleStoreOn(await openSession(connection), "salesforce", () => new Date());
    const asked = { mappingId: shape.mappingId, work: "cycle", configVersion: 1, owner: "a test", slot: null } as const;
    const begun = await store.begin({ ...asked, leaseSeconds: 30 });
    await store.close();

    expect(captured).toEqual([]);
    expect(begun).toMatchObject({ held: true, captureOff: { why: "subscription" } });
    const next = { ...shape, configVersion: 2 };
    await expect(provisioner.provision(mappingOf(next), next)).rejects.toThrow(
      /salesforce\.contact are not captured: a logical subscription feeds it.*ALTER SUBSCRIPTION/,
    );
    const onlyReads = { ...next, direction: "sf_to_pg" } as const;
    await expect(provisioner.provision(mappingOf(onlyReads), onlyReads)).resolves.toMatchObject({ isCaptured: true });
    await here.client.query("ALTER SUBSCRIPTION contacts DISABLE");
    await here.client.query("ALTER SUBSCRIPTION contacts SET (slot_name = NONE)");
    await here.client.query("DROP SUBSCRIPTION contacts");
    await Promise.all([admin, there.client, here.client, guest.client].map((client) => client.end()));
    await server.close();
  },
);
