import { expect, test } from "vitest";
import { endKeptSessions, forgetReads, image, page } from "../customer.ts";
import { aCustomer, customer, dailyCheck, sql } from "../world.ts";

const NAME = "contact_systemmodstamp_idx";
const OLD = `CREATE INDEX ${NAME} ON salesforce.contact (systemmodstamp)`;
const isThere = async () =>
  (await sql("SELECT to_regclass('salesforce.' || $1) IS NOT NULL AS there", [NAME]))[0]?.["there"];
const makeOld = () => sql(`UPDATE salesforce._bridge_state SET layout = layout || '{"captureVersion": 3}'`);

/** Of 1,000 rows that pulls change in a new database, how many stay in their pages. */
async function countStaying(): Promise<number> {
  await aCustomer();
  const { store, lease } = await customer.cycle();
  const pull = (seconds: number) =>
    store.apply(
      lease,
      page(Array.from({ length: 20 }, (_, n) => image(n + 1, seconds, { lastname: `name ${seconds}` }))),
    );
  await pull(0);
  await forgetReads(customer);
  for (let seconds = 1; seconds <= 50; seconds += 1) await pull(seconds);
  await store.close();
  await endKeptSessions(customer);
  const [counted] = await sql(
    "SELECT n_tup_upd::int AS updated, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'contact'",
  );
  expect(counted?.["updated"]).toBe(1_000);
  return Number(counted?.["hot"]);
}

test("what a pull writes stays in its page, since no index knows the stamp", async () => {
  // Transactions of other databases hold the pruning of pages up for a while (GlobalVisTestShouldUpdate of PostgreSQL), so
  // the best of three counts. With an index of the stamp none stays.
  let most = 0;
  for (let tries = 0; tries < 3 && most < 950; tries += 1) most = Math.max(most, await countStaying());

  expect(most).toBeGreaterThanOrEqual(950);
});

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
