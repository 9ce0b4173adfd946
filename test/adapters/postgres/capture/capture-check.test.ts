import { describe, expect, test } from "vitest";
import { captureAllOf, captureNext } from "../../../../lib/adapters/postgres/schema/capture-existing.ts";
import { openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import { metadata } from "../../../../lib/adapters/postgres/session/sql.ts";
import { image, page, untilSomebodyWaits } from "../customer.ts";
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

test("a table that a logical subscription feeds is reported, and refused to a mapping that sends its rows", async () => {
  await customer.asSuperuser("SET allow_system_table_mods = on");
  await customer.asSuperuser(
    "INSERT INTO pg_subscription_rel (srsubid, srrelid, srsubstate) VALUES (1, 'salesforce.contact'::regclass, 'r')",
  );

  expect(await captureOff()).toMatchObject({ why: "subscription" });
  await expect(customer.provision({ configVersion: 2 })).rejects.toThrow(
    /salesforce\.contact are not captured: a logical subscription feeds it.*ALTER SUBSCRIPTION/,
  );
  const reading = { configVersion: 2, direction: "sf_to_pg" } as const;
  expect(await customer.provision(reading)).toMatchObject({ isCaptured: true });
});
