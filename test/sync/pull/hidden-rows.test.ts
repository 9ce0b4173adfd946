import { expect, test } from "vitest";
import { databases } from "../../../lib/adapters/postgres/operations/inspect-database.ts";
import { judgeDatabase } from "../../../lib/settings/judge-database.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld();

const HIDE = `ALTER TABLE salesforce.contact ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
  CREATE POLICY tenants ON salesforce.contact USING (lastname = current_setting('app.tenant', true)) WITH CHECK (true)`;
const REASON = /^row-level security hides rows of table (salesforce\.)?contact from the user/;

const findings = async () => {
  const facts = await databases.look({ url: world.databaseUrl, schema: "salesforce" });
  return judgeDatabase(facts, "salesforce", world.workspaceId).filter(({ ok }) => !ok);
};
const table = () => world.asSuperuser("SELECT lastname FROM salesforce.contact");
async function bothSidesGoOn() {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Mine')");
  await world.create("Theirs");
}
async function follow(sync_direction: string) {
  await world.create("Lovelace");
  await world.mapContact(["LastName"], { bridge: { sync_direction } });
  await world.cycles();
}
const cycle = async () => {
  await world.pass(60);
  await world.cycles();
};

test.each(firstInGate(1, ["bidirectional", "sf_to_pg", "pg_to_sf"]))(
  "a mapping that is %s is broken while row-level security hides its rows, doubles and loses none, and continues once they are seen",
  async (direction) => {
    await follow(direction);
    const role = new URL(world.databaseUrl).username;
    for (const [remedy, back] of [
      [`ALTER ROLE ${role} BYPASSRLS`, `ALTER ROLE ${role} NOBYPASSRLS`],
      ["ALTER TABLE salesforce.contact NO FORCE ROW LEVEL SECURITY", ""],
      ["ALTER TABLE salesforce.contact DISABLE ROW LEVEL SECURITY", ""],
    ] as const) {
      await world.sql(HIDE);
      await bothSidesGoOn();
      const before = [await world.namesThere(), await table()];

      await cycle();

      expect(world.log.at(-1)).toMatchObject({ reason: "rows_hidden", message: expect.stringMatching(REASON) });
      expect(await findings()).toMatchObject([
        { message: expect.stringMatching(REASON), remedy: expect.stringContaining("BYPASSRLS") },
      ]);
      expect([await world.namesThere(), await table()]).toEqual(before);

      await world.asSuperuser(remedy);
      await cycle();
      expect(world.log.at(-1)).not.toHaveProperty("reason");
      expect((await world.namesThere()).includes("Mine")).toBe(direction !== "sf_to_pg");
      await world.asSuperuser(`${back}; DROP POLICY tenants ON salesforce.contact; DELETE FROM salesforce.contact`);
      await cycle();
    }
  },
);

test.each(firstInGate(1, ["store.apply", "store.claim"]))(
  "before %s of a cycle: nothing is written or sent",
  async (call) => {
    await follow("bidirectional");
    await bothSidesGoOn();
    world.interfere(async (one) => {
      if (one !== call) return;
      world.interfere(null);
      await world.sql(HIDE);
    });

    await cycle();

    expect(world.log.at(-1)?.["message"]).toMatch(REASON);
    expect(await world.namesThere()).toEqual(["Lovelace", "Theirs"]);
    expect(new Set(await world.states())).toEqual(new Set(["NEW"]));

    await world.sql("ALTER TABLE salesforce.contact NO FORCE ROW LEVEL SECURITY");
    await cycle();
    expect(await world.namesThere()).toEqual(["Lovelace", "Mine", "Theirs"]);
    expect(await world.names()).toEqual(await world.namesThere());
  },
);

test("a table whose rows are hidden from us is not adopted", async () => {
  await world.sql(
    `CREATE SCHEMA IF NOT EXISTS salesforce; CREATE TABLE salesforce.contact (id serial PRIMARY KEY, lastname text); ${HIDE}`,
  );
  const [created] = await world.map({ object: "Contact", fields: ["LastName"] });

  expect(created?.provisioning).toMatchObject({ reason: expect.stringMatching(REASON) });
  expect(await world.sql("SELECT FROM pg_trigger WHERE tgrelid = 'salesforce.contact'::regclass")).toEqual([]);
});
