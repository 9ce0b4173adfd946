import { expect, test } from "vitest";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Cycle, retriedIn } from "../cycles.ts";
import { aCustomerForEachTest, customer, dailyCheck, laterBy, sql, transaction } from "../world.ts";

aCustomerForEachTest({ shape: contactShape({ upsertField: "Key__c" }) });

const insert = (key: string) => sql("INSERT INTO salesforce.contact (lastname, key__c) VALUES ($1, $1)", [key]);
const keysOf = (changes: readonly ClaimedChange[]) =>
  changes.map(({ action, old, values }) => `${action} ${values["key__c"] ?? old["key__c"]}`);
/** Claims what is ready, and has it wait for its retry, each change one second less than the one before. */
async function retryIn(seconds: number, { store, lease }: Cycle): Promise<void> {
  const changes = await store.claim(lease, 10);
  await store.settle(
    lease,
    changes.map((change, at) => retriedIn(seconds - at, change)),
  );
}

test("a change waits for an earlier one of another row that has its upsert value, whatever its case", async () => {
  await insert(" Same");
  const cycle = await customer.cycle();
  await retryIn(60, cycle);
  await sql("DELETE FROM salesforce.contact");
  await insert("same");
  await insert("other");

  const meanwhile = await cycle.store.claim(cycle.lease, 10);
  laterBy(60);

  expect(keysOf(meanwhile)).toEqual(["INSERT other"]);
  expect(keysOf(await cycle.store.claim(cycle.lease, 10))).toEqual(["INSERT  Same", "DELETE  Same", "INSERT same"]);
});

test("a change waits for an earlier one that gave the upsert value away", async () => {
  await insert("given");
  const cycle = await customer.cycle();
  await retryIn(-1, cycle);
  await sql("UPDATE salesforce.contact SET key__c = 'kept'");
  await retryIn(60, cycle);
  await insert("given");
  await insert("Kept ");

  expect(await cycle.store.claim(cycle.lease, 10)).toEqual([]);
});

test("a change waits for an earlier one of the same record, by an id of 15 or of 18 characters", async () => {
  await sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, old, held)
       VALUES ('DELETE', 'contact', 77, '003000000000001', '{}', true)`,
  );
  await sql(
    "INSERT INTO salesforce.contact (lastname, sfid) VALUES ('Curie', '003000000000001AAA'), ('Joliot', '003000000000002AAA')",
  );
  await sql(
    "UPDATE salesforce._trigger_log SET state = 'SUCCESS', last_operation = 'INSERTED', processed_at = now() WHERE action = 'INSERT'",
  );
  await sql("UPDATE salesforce.contact SET email = 'x@example.com'");
  const { store, lease } = await customer.cycle();

  expect((await store.claim(lease, 10)).map(({ sfid }) => sfid)).toEqual(["003000000000002AAA"]);
});

test("of many that are due at once the first are claimed first, and none overtakes what it waits for", async () => {
  const cycle = await customer.cycle();
  for (const key of ["a", "b", "c"]) await insert(key);
  await retryIn(30, cycle);
  await sql("DELETE FROM salesforce.contact WHERE key__c = 'a'");
  await insert("A");
  laterBy(60);

  const claims: string[][] = [];
  for (let claim = 0; claim < 4; claim += 1) claims.push(keysOf(await cycle.store.claim(cycle.lease, 1)));

  expect(claims).toEqual([["INSERT c"], ["INSERT b"], ["INSERT a", "DELETE a"], []]);
});

test("after the upgrade of a log that changes wait in, its indexes are built beside its writers", async () => {
  await insert("before");
  const indexes = () =>
    sql(
      `SELECT relname, indisvalid FROM pg_index JOIN pg_class c ON c.oid = indexrelid
       WHERE indrelid = 'salesforce._trigger_log'::regclass ORDER BY relname`,
    );
  const wanted = await indexes();
  await sql("DROP INDEX salesforce._bridge_log_ready, salesforce._bridge_log_blocked_keys");
  await sql(
    "CREATE INDEX _bridge_log_waiting_in_order ON salesforce._trigger_log ((table_name || ''), id) WHERE processed_at IS NULL AND NOT held",
  );
  const writer = await transaction("INSERT INTO salesforce.contact (lastname) VALUES ('Open')");

  const look = dailyCheck();
  await insert("meanwhile");
  await writer.query("COMMIT");
  await look;

  expect(await indexes()).toEqual(wanted);
  const { store, lease } = await customer.cycle();
  expect(await store.claim(lease, 10)).toHaveLength(3);
});
