import { afterEach, beforeEach, expect, test } from "vitest";
import { type Customer, createCustomer, image, orgTime, page, pushAll, sfidOf } from "./customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

test("a row that an application inserts is claimed, sent, and gets its sfid", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', 'marie@example.com')");
  const { store, lease, begun } = await customer.cycle();

  const changes = await pushAll({ store, lease }, () => sfidOf(1), orgTime(1));

  expect(begun.waiting).toEqual({ changes: true, unfinished: false, outbox: false });
  expect(changes).toMatchObject([
    { action: "INSERT", sfid: null, old: {}, values: { lastname: "Curie", email: "marie@example.com" }, attempts: 0 },
  ]);
  expect(await customer.sql("SELECT sfid, _ab_lastop, _ab_err FROM salesforce.contact")).toEqual([
    { sfid: sfidOf(1), _ab_lastop: "INSERTED", _ab_err: null },
  ]);
  expect(await customer.sql("SELECT state, sfid, last_operation, processed_at FROM salesforce._trigger_log")).toEqual([
    { state: "SUCCESS", sfid: sfidOf(1), last_operation: "INSERTED", processed_at: customer.now },
  ]);
  const totals = await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: { SOAP: 1 }, error: null });
  expect(totals).toEqual({
    rowsSynced: 1,
    rowsFailed: 0,
    apiCalls: { SOAP: 1 },
    queueDepth: 0,
    oldestWaitingSeconds: 0,
    outboxWaits: false,
    refusedWriteBacks: { rows: 0, sqlState: null },
  });
});

test("a record becomes a row, its change changes the row, its deletion deletes it, and none is sent back", async () => {
  const { store, lease } = await customer.cycle();

  const inserted = await store.apply(lease, page([image(1, 1, { lastname: "Curie", email: null })]));
  const updated = await store.apply(lease, page([image(1, 2, { lastname: "Sklodowska", email: null })]));
  const row = await customer.sql(
    "SELECT sfid, lastname, systemmodstamp, isdeleted, _ab_lastop FROM salesforce.contact",
  );
  const deleted = await store.apply(lease, page([image(1, 3, {}, true)]));

  expect([inserted, updated, deleted]).toMatchObject([{ inserted: 1 }, { updated: 1 }, { deleted: 1 }]);
  expect(row).toEqual([
    { sfid: sfidOf(1), lastname: "Sklodowska", systemmodstamp: orgTime(2), isdeleted: false, _ab_lastop: "SYNCED" },
  ]);
  expect(await customer.sql("SELECT FROM salesforce.contact")).toEqual([]);
  expect(await customer.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("the echo of our own write only brings the stamp", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  const { store, lease } = await customer.cycle();
  await pushAll({ store, lease }, () => sfidOf(1), orgTime(1));

  const echo = await store.apply(lease, page([image(1, 1, { lastname: "Curie", name: "Marie Curie" })]));
  const again = await store.apply(lease, page([image(1, 1, { lastname: "Curie", name: "Marie Curie" })]));

  expect(echo, "it is our own save, and is not counted").toMatchObject({ updated: 0, unchanged: 1 });
  expect(again).toMatchObject({ updated: 0, unchanged: 1 });
  expect(await customer.sql("SELECT lastname, name, _ab_lastop FROM salesforce.contact")).toEqual([
    { lastname: "Curie", name: "Marie Curie", _ab_lastop: "SYNCED" },
  ]);
});

test("marks are committed with the rows and read at the next beginning", async () => {
  const { store, lease } = await customer.cycle();
  const load = { kind: "load" as const, startedAt: orgTime(0), afterId: sfidOf(1), bulk: null, afterRow: null };
  const fast = { stamp: orgTime(5), afterId: sfidOf(1) };
  const lanes = { fast, pages: 3 };
  const size = { rows: 1, fields: 0, since: 7 };

  await store.apply(
    lease,
    page([image(1, 1, { lastname: "Curie" })], { marks: { position: orgTime(5), lanes, load } }),
  );
  const finished = { deleted: orgTime(6), lanes: { size, pages: undefined } };
  await store.finish(lease, { marks: finished, pulledAt: orgTime(7), apiCalls: {}, error: null });
  const { begun } = await customer.cycle();

  expect(begun.marks).toEqual({ position: orgTime(5), slow: null, deleted: orgTime(6), lanes: { fast, size }, load });
  expect(begun.lastPullAt).toEqual(orgTime(7));
});

test("a refused row says why, in the row, in the log and in an event", async () => {
  await customer.sql("INSERT INTO salesforce.contact (email) VALUES ('not-an-address')");
  const { store, lease } = await customer.cycle();
  const [change] = await store.claim(lease, 10);
  const error = "INVALID_EMAIL_ADDRESS: Email: invalid email address: not-an-address [Email]";

  await store.settle(lease, [
    { kind: "refused", changeIds: [Number(change?.id)], recordId: 1, action: "INSERT", error },
  ]);

  expect(await customer.sql("SELECT sfid, _ab_lastop, _ab_err FROM salesforce.contact")).toEqual([
    { sfid: null, _ab_lastop: "FAILED", _ab_err: error },
  ]);
  expect(await customer.sql("SELECT state, sf_message FROM salesforce._trigger_log")).toEqual([
    { state: "FAILED", sf_message: error },
  ]);
  expect(await store.outbox(10)).toMatchObject([
    {
      event: "record.failed",
      detail: {
        trigger_log_id: change?.id,
        mapping_id: "map_contact",
        sf_object: "Contact",
        table_name: "contact",
        record_id: 1,
        sfid: null,
        action: "INSERT",
        error,
      },
    },
  ]);
});
