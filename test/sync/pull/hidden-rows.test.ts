import { beforeEach, describe, expect, test } from "vitest";
import { databases } from "../../../lib/adapters/postgres/operations/inspect-database.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { judgeDatabase } from "../../../lib/settings/judge-database.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
let role: string;
aWorldForEachTest((made) => {
  world = made.world;
  role = new URL(world.databaseUrl).username;
});

const HIDE = `ALTER TABLE salesforce.contact ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
  CREATE POLICY tenants ON salesforce.contact USING (lastname = current_setting('app.tenant', true)) WITH CHECK (true)`;
const REASON = /^row-level security hides rows of table (salesforce\.)?contact from the user/;

const findings = async () => {
  const facts = await databases.look({ url: world.databaseUrl, schema: "salesforce" });
  return judgeDatabase(facts, "salesforce", world.workspaceId).filter(({ ok }) => !ok);
};
const names = async () =>
  (await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).map(({ LastName }) => LastName);

describe.each(firstInGate(1, ["bidirectional", "sf_to_pg", "pg_to_sf"]))("a mapping that is %s", (direction) => {
  beforeEach(async () => {
    await world.createRecords("Contact", [{ LastName: "Lovelace" }]);
    contact = await mapped(world, { object: "Contact", fields: ["LastName"], bridge: { sync_direction: direction } });
    await world.cycle(contact);
  });

  test("is broken while row-level security hides its rows, and doubles and loses none", async () => {
    await world.sql(HIDE);
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Mine')");
    await world.rest("POST", "/sobjects/Contact", { LastName: "Theirs" });
    const [before, rows] = [await names(), await world.asSuperuser("SELECT lastname FROM salesforce.contact")];

    await world.cycle(contact);

    expect(world.log.at(-1)).toMatchObject({ event: "cycle", reason: "rows_hidden" });
    expect(world.log.at(-1)?.["message"]).toMatch(REASON);
    expect(await findings()).toMatchObject([
      { message: expect.stringMatching(REASON), remedy: expect.stringContaining("BYPASSRLS") },
    ]);
    expect(await names()).toEqual(before);
    expect(await world.asSuperuser("SELECT lastname FROM salesforce.contact")).toEqual(rows);
  });

  test.each([
    ["BYPASSRLS", () => world.asSuperuser(`ALTER ROLE ${role} BYPASSRLS`)],
    ["no FORCE", () => world.sql("ALTER TABLE salesforce.contact NO FORCE ROW LEVEL SECURITY")],
    ["no policies", () => world.sql("ALTER TABLE salesforce.contact DISABLE ROW LEVEL SECURITY")],
  ])("continues after %s", async (_, remedy) => {
    await world.sql(HIDE);
    await world.cycle(contact);
    await remedy();
    if (direction !== "sf_to_pg") await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Mine')");

    await world.pass(60);
    await world.cycle(contact);

    expect(world.log.at(-1)).not.toHaveProperty("reason");
    expect(await names()).toEqual(direction === "sf_to_pg" ? ["Lovelace"] : ["Lovelace", "Mine"]);
    await world.asSuperuser(`ALTER ROLE ${role} NOBYPASSRLS`);
  });
});

test.each(["store.apply", "store.claim"])("before %s of a cycle: nothing is written or sent", async (call) => {
  await world.createRecords("Contact", [{ LastName: "Lovelace" }]);
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.cycle(contact);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Mine')");
  await world.rest("POST", "/sobjects/Contact", { LastName: "Theirs" });
  world.interfere(async (one) => {
    if (one !== call) return;
    world.interfere(null);
    await world.sql(HIDE);
  });

  await world.pass(60);
  await world.cycle(contact);

  expect(world.log.at(-1)?.["message"]).toMatch(REASON);
  expect(await names()).toEqual(["Lovelace", "Theirs"]);
  expect(await world.sql("SELECT state FROM salesforce._trigger_log WHERE state <> 'NEW'")).toEqual([]);

  await world.sql("ALTER TABLE salesforce.contact NO FORCE ROW LEVEL SECURITY");
  await world.pass(60);
  await world.cycle(contact);
  expect(await names()).toEqual(["Lovelace", "Mine", "Theirs"]);
  expect(
    (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY 1")).map(({ lastname }) => lastname),
  ).toEqual(await names());
});

test("a table whose rows are hidden from us is not adopted", async () => {
  await world.sql(
    `CREATE SCHEMA IF NOT EXISTS salesforce; CREATE TABLE salesforce.contact (id serial PRIMARY KEY, lastname text); ${HIDE}`,
  );
  const [created] = await world.map({ object: "Contact", fields: ["LastName"] });

  expect(created?.provisioning).toMatchObject({ reason: expect.stringMatching(REASON) });
  expect(await world.sql("SELECT FROM pg_trigger WHERE tgrelid = 'salesforce.contact'::regclass")).toEqual([]);
});
