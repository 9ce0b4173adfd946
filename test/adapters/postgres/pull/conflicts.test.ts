import { afterEach, expect, test } from "vitest";
import type { ConflictPolicy } from "../../../../lib/model/mapping/mapping.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { acceptedAt, type Customer, createCustomer, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";

let customer: Customer;
afterEach(() => customer.close());

/** A row that both sides know, and a cycle. */
async function known(conflictPolicy: ConflictPolicy) {
  customer = await createCustomer({ shape: contactShape({ conflictPolicy }) });
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 1, { lastname: "Curie", email: "old@example.com", key__c: null })]));
  return { store, lease };
}

const rows = () => customer.sql("SELECT lastname, email, _ab_lastop FROM salesforce.contact");
const log = () => customer.sql('SELECT action, state, "values", sf_message FROM salesforce._trigger_log ORDER BY id');

test("different fields that changed on both sides are merged", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");

  const applied = await store.apply(lease, page([image(1, 2, { lastname: "Sklodowska", email: "old@example.com" })]));

  expect(applied).toMatchObject({ updated: 1, conflicts: 0 });
  expect(await rows()).toEqual([{ lastname: "Sklodowska", email: "pg@example.com", _ab_lastop: "PENDING" }]);
  expect(await log()).toMatchObject([{ state: "NEW", values: { email: "pg@example.com" } }]);
});

test("where Salesforce wins, its value stays, the change says so, and the rest of it is still sent", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'one@example.com'");
  await customer.sql("UPDATE salesforce.contact SET email = 'two@example.com', lastname = 'Sklodowska'");

  const applied = await store.apply(lease, page([image(1, 2, { lastname: "Curie", email: "sf@example.com" })]));

  expect(applied).toMatchObject({ conflicts: 1 });
  expect(await rows()).toEqual([{ lastname: "Sklodowska", email: "sf@example.com", _ab_lastop: "PENDING" }]);
  expect(await log()).toEqual([
    {
      action: "UPDATE",
      state: "FAILED",
      values: { email: "one@example.com" },
      sf_message: "CONFLICT: Salesforce changed the same fields, and wins [email]",
    },
    { action: "UPDATE", state: "NEW", values: { lastname: "Sklodowska" }, sf_message: null },
  ]);
  expect(
    await customer.sql("SELECT field, base, postgres, salesforce, winner FROM salesforce._bridge_conflicts"),
  ).toEqual([
    {
      field: "email",
      base: "old@example.com",
      postgres: "two@example.com",
      salesforce: "sf@example.com",
      winner: "salesforce",
    },
  ]);
});

test("where PostgreSQL wins, its value stays and is sent", async () => {
  const { store, lease } = await known("postgres_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");

  const applied = await store.apply(lease, page([image(1, 2, { lastname: "Curie", email: "sf@example.com" })]));
  const changes = await store.claim(lease, 10);

  expect(applied).toMatchObject({ conflicts: 1 });
  expect(await rows()).toMatchObject([{ email: "pg@example.com" }]);
  expect(changes).toMatchObject([{ values: { email: "pg@example.com" } }]);
});

test("a decided conflict is not recorded again by the next image", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");
  await store.apply(lease, page([image(1, 2, { email: "sf@example.com" })]));

  const again = await store.apply(lease, page([image(1, 3, { email: "sf@example.com" })]));

  expect(again).toMatchObject({ conflicts: 0, unchanged: 1 });
  expect(await store.claim(lease, 10)).toEqual([]);
});

test("a deletion in Salesforce takes a changed row with it, and the change keeps its values", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");

  const deleted = image(1, 2, {}, true);
  // Of a contact it is read first whether it was merged into another one.
  const unread = await store.apply(lease, page([deleted]));
  expect(unread).toMatchObject({ deleted: 0, reread: [deleted.sfid] });
  const applied = await store.apply(lease, page([{ ...deleted, mergedInto: null }]));

  expect(applied).toMatchObject({ deleted: 1 });
  expect(await rows()).toEqual([]);
  expect(await log()).toEqual([
    {
      action: "UPDATE",
      state: "FAILED",
      values: { email: "pg@example.com" },
      sf_message: "CONFLICT: the record was deleted in Salesforce, which wins",
    },
  ]);
  expect(await store.outbox(10)).toMatchObject([{ event: "record.failed", detail: { sfid: sfidOf(1) } }]);
});

longTest(
  "where PostgreSQL wins, a changed row outlives the deletion of its record, and the change is sent",
  async () => {
    const { store, lease } = await known("postgres_wins");
    await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");

    await store.apply(lease, page([image(1, 2, {}, true)]));

    expect(await rows()).toMatchObject([{ email: "pg@example.com" }]);
    expect(await store.claim(lease, 10)).toHaveLength(1);
  },
);

test("a row that was deleted comes back under its key when its record changed meanwhile and Salesforce wins", async () => {
  const { store, lease } = await known("salesforce_wins");
  const [before] = await customer.sql("SELECT id FROM salesforce.contact");
  await customer.sql("DELETE FROM salesforce.contact");

  const applied = await store.apply(
    lease,
    page([image(1, 2, { lastname: "Sklodowska", email: "old@example.com", key__c: null })]),
  );

  expect(applied).toMatchObject({ inserted: 1 });
  expect(await customer.sql("SELECT id, sfid, lastname FROM salesforce.contact")).toEqual([
    { id: before?.["id"], sfid: sfidOf(1), lastname: "Sklodowska" },
  ]);
  expect(await log()).toMatchObject([{ action: "DELETE", state: "FAILED" }]);
});

test("a row that was deleted right after our save of it stays deleted, whatever automation changed at the save", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");
  await pushAll({ store, lease }, () => null, orgTime(5));
  await customer.sql("DELETE FROM salesforce.contact");
  const automated = { lastname: "CURIE", email: "pg@example.com", key__c: null };

  const ours = await store.apply(lease, page([image(1, 5, automated)]));
  const stillGone = await rows();
  const theirs = await store.apply(lease, page([image(1, 6, automated)]));

  expect(ours).toMatchObject({ inserted: 0 });
  expect(stillGone).toEqual([]);
  // Stamped later than our save: another user's change, which wins.
  expect(theirs).toMatchObject({ inserted: 1 });
});

longTest("a row that was deleted stays deleted when PostgreSQL wins", async () => {
  const { store, lease } = await known("postgres_wins");
  await customer.sql("DELETE FROM salesforce.contact");

  await store.apply(lease, page([image(1, 2, { lastname: "Sklodowska" })]));

  expect(await rows()).toEqual([]);
  expect(await store.claim(lease, 10)).toMatchObject([{ action: "DELETE", sfid: sfidOf(1) }]);
});

test("what failed is not sent again once Salesforce has overwritten the row", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'bad'");
  const [change] = await store.claim(lease, 10);
  await store.settle(lease, [
    {
      kind: "refused",
      changeIds: [Number(change?.id)],
      recordId: 1,
      action: "UPDATE",
      error: "INVALID_EMAIL_ADDRESS: bad",
    },
  ]);
  await store.apply(lease, page([image(1, 2, { lastname: "Curie", email: "good@example.com" })]));
  await customer.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska'");

  const claimed = await store.claim(lease, 10);

  expect(claimed).toMatchObject([{ values: { lastname: "Sklodowska" } }]);
});

test("an image of our own write that arrives before its answer is no conflict", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'one@example.com'");
  const [sent] = await store.claim(lease, 10);
  await store.markSent(lease, "batch", [Number(sent?.id)]);
  await customer.sql("UPDATE salesforce.contact SET email = 'two@example.com'");

  const applied = await store.apply(lease, page([image(1, 2, { email: "one@example.com" })]));

  expect(applied).toMatchObject({ conflicts: 0 });
  expect(await rows()).toMatchObject([{ email: "two@example.com" }]);
});

test("a new value of a field that is under way reaches its row although the answer is of an older save", async () => {
  const { store, lease } = await known("salesforce_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'sent@example.com'");
  const [sent] = await store.claim(lease, 10);
  const changeIds = [Number(sent?.id)];
  await store.markSent(lease, "a job", changeIds);

  const news = image(1, 9, { email: "news@example.com" });
  await store.apply(lease, page([news]));
  const underWay = await rows();
  const answered = { sfid: sfidOf(1), answeredAt: orgTime(2) };
  await store.settle(lease, [{ kind: "accepted", changeIds, recordId: 1, action: "UPDATE", ...answered }]);
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  customer.now = new Date(customer.now.getTime() + 11_000);
  const next = await customer.cycle();
  await next.store.apply(next.lease, page([news], { lane: "reread" }));
  await next.store.finish(next.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });

  expect(underWay).toMatchObject([{ email: "sent@example.com" }]);
  expect(next.begun.rereads).toEqual([sfidOf(1)]);
  expect(await rows()).toMatchObject([{ email: "news@example.com" }]);
  expect((await customer.cycle()).begun.rereads).toEqual([]);
});

longTest("a row without a waiting change follows Salesforce whatever the policy", async () => {
  const { store, lease } = await known("postgres_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");
  await pushAll({ store, lease }, () => null, orgTime(5));

  await store.apply(lease, page([image(1, 6, { email: "sf@example.com" })]));

  expect(await rows()).toMatchObject([{ email: "sf@example.com", _ab_lastop: "SYNCED" }]);
});

/** A cycle whose pulls were last at `seconds` of the org's time. */
async function settledCycle(seconds: number) {
  await customer.sql("UPDATE salesforce._bridge_state SET position = $1, lease_until = NULL", [orgTime(seconds - 60)]);
  return customer.cycle();
}

test("a field that Salesforce changed while a change of ours was under way is no unseen write once it is answered", async () => {
  const { store, lease } = await known("postgres_wins");
  await customer.sql("UPDATE salesforce.contact SET email = 'pg@example.com'");
  const changes = await store.claim(lease, 10);
  const ids = changes.map(({ id }) => id);
  await store.markSent(lease, "batch", ids);
  const news = page([image(1, 20, { lastname: "Curie", email: "sf@example.com", key__c: null })], {
    readAt: orgTime(25),
  });
  await store.apply(lease, news);
  await store.settle(lease, changes.map(acceptedAt(orgTime(26))));

  for (const lane of ["reread", "fast", "sweep"] as const) {
    const next = await settledCycle(2_000);
    await next.store.apply(next.lease, { ...news, lane, readAt: orgTime(2_000) });
  }

  expect(await rows()).toMatchObject([{ email: "sf@example.com" }]);
  expect(await log()).toMatchObject([{ state: "SUCCESS" }]);
});
