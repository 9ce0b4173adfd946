import { beforeEach, expect, test } from "vitest";
import { dismissStatement } from "../../../../lib/adapters/postgres/operations/failed-changes.ts";
import { metadata } from "../../../../lib/adapters/postgres/session/sql.ts";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import type { Lease } from "../../../../lib/sync/ports/lease-ports.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { created, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";
import { END, idsOf, refused, send } from "../cycles.ts";
import { aCustomerForEachTest, customer, log, retryFailed, sql } from "../world.ts";

let store: CycleStore;
let lease: Lease;
aCustomerForEachTest({ shape: contactShape({ upsertField: "Key__c" }) });
beforeEach(() => begin());

async function begin(): Promise<void> {
  ({ store, lease } = await customer.cycle());
}

const insert = () => sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
const update = (email: string) => sql("UPDATE salesforce.contact SET email = $1", [email]);
const claim = () => store.claim(lease, 100);
const sendAll = async () => {
  const changes = await claim();
  await send({ store, lease }, changes);
  return changes;
};
const refuse = async () => store.settle(lease, [refused(await sendAll())]);
/** One write of all these changes of a row. */
const acceptTogether = (changes: readonly ClaimedChange[]) =>
  store.settle(
    lease,
    changes.slice(0, 1).map((first) => ({ ...created(first), changeIds: idsOf(changes) })),
  );
const age = () =>
  sql(`UPDATE salesforce._trigger_log SET created_at = processed_at - interval '32 days',
       processed_at = processed_at - interval '32 days'`);

test("a write that ends in doubt leaves in doubt what it carries, too", async () => {
  await insert();
  await refuse();
  await update("m@example.com");
  await store.settle(lease, [refused(await sendAll(), "IN_DOUBT: who knows")]);
  await update("n@example.com");

  const again = await claim();

  expect(again.map(({ sent }) => sent?.batchId)).toEqual(["batch", "batch", undefined]);
});

test("an operator's retry leaves alone what a newer change carries just now, and takes it again afterwards", async () => {
  await insert();
  await refuse();
  await update("m@example.com");
  const changes = await claim();

  const meanwhile = await retryFailed([1]);
  const dismissed = await sql(dismissStatement(metadata("salesforce")), ["map_contact", [1]]);
  await store.settle(lease, [refused(changes)]);

  expect([meanwhile, dismissed]).toEqual([0, []]);
  expect(await retryFailed([1, 2])).toBe(2);
  expect(idsOf(await claim())).toEqual([1, 2]);
});

test("what failed of a row without an sfid stays as long as the row does", async () => {
  await sql("INSERT INTO salesforce.contact (lastname) VALUES ('lives'), ('linked'), ('gone'), ('sent')");
  const changes = await claim();
  await store.settle(lease, [...changes.slice(0, 3).map((one) => refused(one)), ...changes.slice(3).map(created)]);
  await sql("UPDATE salesforce.contact SET email = 'm@example.com' WHERE id IN (1, 4)");
  const ofRows = [...Map.groupBy(await claim(), ({ recordId }) => recordId).values()];
  await store.settle(
    lease,
    ofRows.map((ofRow) => refused(ofRow)),
  );
  await sql(`SET bridge.in_sync = 'contact'; UPDATE salesforce.contact SET sfid = '${sfidOf(2)}' WHERE id = 2;
    DELETE FROM salesforce.contact WHERE id = 3; RESET bridge.in_sync`);
  await age();

  await store.finish(lease, END);
  await begin();
  await sql("UPDATE salesforce.contact SET key__c = 'K' WHERE id = 1");

  expect(await sql("SELECT success::int, failed::int FROM salesforce._bridge_totals")).toEqual([
    { success: 0, failed: 2 },
  ]);
  expect(await claim()).toMatchObject([
    { recordId: 1, action: "INSERT", values: { lastname: "lives" } },
    { recordId: 1, action: "UPDATE", values: { email: "m@example.com" } },
    { recordId: 1, action: "UPDATE", values: { key__c: "K" } },
  ]);
});

test("an old refused change is not deleted while a newer one carries it", async () => {
  await insert();
  await pushAll({ store, lease }, () => sfidOf(1), orgTime(1));
  await update("m@example.com");
  await refuse();
  await age();
  await sql("UPDATE salesforce.contact SET key__c = 'K'");
  const changes = await sendAll();

  const { store: other, lease: longWork } = await customer.cycle({ work: "load" });
  await other.finish(longWork, END);
  await acceptTogether(changes);

  expect(await log("id::int, state")).toEqual([2, 3].map((id) => ({ id, state: "SUCCESS" })));
  await update("n@example.com");
  await refuse();
  await sql("UPDATE salesforce.contact SET key__c = 'L'");
  await store.apply(lease, page([image(1, 9, { lastname: "Sklodowska" })]));
  expect(
    (await claim()).map(({ values }) => values),
    "beside news",
  ).toEqual([{ email: "n@example.com" }, { key__c: "L" }]);
});
