import { expect, test } from "vitest";
import type { ConflictPolicy } from "../../../../lib/model/mapping/mapping.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { accepted, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";
import { claimAndSend, END, known } from "../cycles.ts";
import { aCustomer, customer, laterBy, log, rows, sql } from "../world.ts";

/** A row that both sides know, and that the application has changed; a cycle. */
async function changed(conflictPolicy: ConflictPolicy, ...statements: readonly string[]) {
  await aCustomer({ shape: contactShape({ conflictPolicy }) });
  await known(1, () => ({ lastname: "Curie", email: "old@example.com", key__c: null }));
  for (const statement of statements) await sql(statement);
  return customer.cycle();
}

const EMAIL = "UPDATE salesforce.contact SET email = 'pg@example.com'";
const DELETE = "DELETE FROM salesforce.contact";
const emails = async () => (await rows("email")).map(({ email }) => email);

test("where Salesforce wins, its value stays, the change says so, the rest of it is sent, and it is decided once", async () => {
  const { store, lease } = await changed(
    "salesforce_wins",
    EMAIL,
    "UPDATE salesforce.contact SET email = 'two@example.com', lastname = 'Sklodowska'",
  );

  const applied = await store.apply(lease, page([image(1, 2, { lastname: "Curie", email: "sf@example.com" })]));
  const again = await store.apply(lease, page([image(1, 3, { lastname: "Curie", email: "sf@example.com" })]));

  expect([applied, again]).toMatchObject([{ conflicts: 1 }, { conflicts: 0 }]);
  expect(await rows("lastname, email, _ab_lastop")).toEqual([
    { lastname: "Sklodowska", email: "sf@example.com", _ab_lastop: "PENDING" },
  ]);
  const message = "CONFLICT: Salesforce changed the same fields, and wins [email]";
  expect(await log('state, "values", sf_message')).toEqual([
    { state: "FAILED", values: { email: "pg@example.com" }, sf_message: message },
    { state: "NEW", values: { lastname: "Sklodowska" }, sf_message: null },
  ]);
  const [conflict] = await sql("SELECT field, base, postgres, salesforce, winner FROM salesforce._bridge_conflicts");
  const values = ["email", "old@example.com", "two@example.com", "sf@example.com", "salesforce"];
  expect(Object.values(conflict ?? {})).toEqual(values);
});

test("a row that was deleted right after our save of it stays deleted, whatever automation changed at the save", async () => {
  const { store, lease } = await changed("salesforce_wins", EMAIL);
  await pushAll({ store, lease }, () => null, orgTime(5));
  await sql(DELETE);
  const automated = { lastname: "CURIE", email: "pg@example.com", key__c: null };

  const ours = await store.apply(lease, page([image(1, 5, automated)]));
  // Stamped later than our save: another user's change, which wins.
  const theirs = await store.apply(lease, page([image(1, 6, automated)]));

  expect([ours, theirs]).toMatchObject([{ inserted: 0 }, { inserted: 1 }]);
});

test("a new value of a field that is under way reaches its row although the answer is of an older save", async () => {
  const { store, lease } = await changed("salesforce_wins", EMAIL);
  const sent = await claimAndSend({ store, lease });

  const news = image(1, 9, { email: "news@example.com" });
  await store.apply(lease, page([news]));
  const underWay = await emails();
  await store.settle(lease, sent.map(accepted));
  await store.finish(lease, END);
  laterBy(11);
  const next = await customer.cycle();
  await next.store.apply(next.lease, page([news], { lane: "reread" }));
  await next.store.finish(next.lease, END);

  expect(underWay).toEqual(["pg@example.com"]);
  expect(next.begun.rereads).toEqual([sfidOf(1)]);
  expect(await emails()).toEqual(["news@example.com"]);
  expect((await customer.cycle()).begun.rereads).toEqual([]);
});

test("a change under way ends as Salesforce answers it though its record was deleted meanwhile", async () => {
  const { store, lease } = await changed("salesforce_wins", EMAIL);
  const sent = await claimAndSend({ store, lease });
  await store.apply(lease, page([image(1, 9, {}, true)], { lane: "deleted" }));
  await store.settle(lease, sent.map(accepted));
  expect(await log("state")).toEqual([{ state: "SUCCESS" }]);
});
