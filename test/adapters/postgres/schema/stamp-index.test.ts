import { expect, test } from "vitest";
import { endKeptSessions } from "../customer.ts";
import { aCustomer, customer, dailyCheck, sql } from "../world.ts";

const NAME = "contact_systemmodstamp_idx";
const OLD = `CREATE INDEX ${NAME} ON salesforce.contact (systemmodstamp)`;
const isThere = async () =>
  (await sql("SELECT to_regclass('salesforce.' || $1) IS NOT NULL AS there", [NAME]))[0]?.["there"];
const makeOld = () => sql(`UPDATE salesforce._bridge_state SET layout = layout || '{"captureVersion": 3}'`);

test("the index that an earlier version made goes with the upgrade and with the next change of the mapping", async () => {
  await aCustomer();
  await sql(OLD);
  await makeOld();
  await dailyCheck();
  const afterUpgrade = await isThere();
  await sql(OLD);

  await customer.provision({ configVersion: 2 });

  expect([afterUpgrade, await isThere()]).toEqual([false, false]);
});

test("it stays where an application reads by it, where a tool owns the schema, and under any other name", async () => {
  await aCustomer();
  await sql(`${OLD}; CREATE INDEX mine ON salesforce.contact (systemmodstamp)`);
  await makeOld();
  await dailyCheck({ schemaChanges: "propose" });
  const proposed = await isThere();
  const reader = await customer.connect();
  await reader.query("SET enable_seqscan = off; DROP INDEX salesforce.mine");
  await reader.query(`DO $$ BEGIN FOR n IN 1..101 LOOP
    PERFORM FROM salesforce.contact WHERE systemmodstamp = now(); END LOOP; END $$`);
  await reader.end();
  await endKeptSessions(customer);
  await sql("CREATE INDEX mine ON salesforce.contact (systemmodstamp)");

  await customer.provision({ configVersion: 2 });

  expect([proposed, await isThere()]).toEqual([true, true]);
  await sql(`DROP INDEX salesforce.${NAME}`);
  expect(await sql("SELECT FROM pg_indexes WHERE indexname = 'mine'")).toHaveLength(1);
});
