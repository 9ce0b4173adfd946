import { afterEach, beforeEach, expect, test } from "vitest";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import { isTooLong } from "../../../../lib/model/change/text-limit.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import type { Lease } from "../../../../lib/sync/ports/lease-ports.ts";
import type { PushOutcome } from "../../../../lib/sync/ports/push-ports.ts";
import { firstInGate, longTest } from "../../../support/run/whole-grid.ts";
import { column } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, forgetReads, orgTime, pushAll, rowsReadOfTheLog, sfidOf } from "../customer.ts";

let customer: Customer;
let store: CycleStore;
let lease: Lease;
beforeEach(async () => {
  customer = await createCustomer();
  ({ store, lease } = await customer.cycle());
});
afterEach(() => customer.close());

const insert = (lastname: string) => customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [lastname]);
const states = async () =>
  (await customer.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map(({ state }) => state);
const idsOf = (changes: readonly ClaimedChange[]) => changes.map(({ id }) => id);

function outcome<Kind extends PushOutcome["kind"]>(change: ClaimedChange | undefined, kind: Kind, more: object = {}) {
  if (!change) throw new Error("nothing was claimed");
  const common = { changeIds: [change.id], recordId: change.recordId, action: change.action };
  return { ...common, kind, sfid: change.sfid, answeredAt: orgTime(1), error: "X: no", ...more } as PushOutcome;
}

const laterBy = (seconds: number) => {
  customer.now = new Date(customer.now.getTime() + seconds * 1000);
};

test("changes are claimed in the order in which they happened, each once", async () => {
  for (const lastname of ["a", "b", "c"]) await insert(lastname);
  await customer.sql("UPDATE salesforce.contact SET lastname = 'A' WHERE lastname = 'a'");

  const first = await store.claim(lease, 2);
  const second = await store.claim(lease, 10);

  expect(first.map(({ action, recordId }) => [action, recordId])).toEqual([
    ["INSERT", 1],
    ["INSERT", 2],
    ["UPDATE", 1],
  ]);
  expect(second).toMatchObject([{ recordId: 3 }]);
  expect(await store.claim(lease, 10)).toEqual([]);
});

test("a change made while its row is being sent waits for the answer, and then knows the sfid", async () => {
  await insert("Curie");
  const [sent] = await store.claim(lease, 10);
  await store.markSent(lease, "batch", [Number(sent?.id)]);
  await customer.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
  const meanwhile = await store.claim(lease, 10);

  await store.settle(lease, [outcome(sent, "accepted", { sfid: sfidOf(1) })]);
  const [after] = await store.claim(lease, 10);

  expect(meanwhile).toEqual([]);
  expect(await customer.sql("SELECT sfid, _ab_lastop FROM salesforce.contact")).toEqual([
    { sfid: sfidOf(1), _ab_lastop: "PENDING" },
  ]);
  expect(after).toMatchObject({ action: "UPDATE", sfid: sfidOf(1) });
});

test("a row deleted while it is being inserted is deleted in Salesforce too", async () => {
  await insert("Curie");
  const [sent] = await store.claim(lease, 10);
  await customer.sql("DELETE FROM salesforce.contact");

  await store.settle(lease, [outcome(sent, "accepted", { sfid: sfidOf(1) })]);

  expect(await store.claim(lease, 10)).toMatchObject([{ action: "DELETE", sfid: sfidOf(1) }]);
});

test("a row whose deletion was not committed yet when its insert was answered is deleted in Salesforce too", async () => {
  await insert("Curie");
  const [sent] = await store.claim(lease, 10);
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("DELETE FROM salesforce.contact");

  await store.settle(lease, [outcome(sent, "accepted", { sfid: sfidOf(1) })]);
  await user.query("COMMIT");

  expect(await store.claim(lease, 10)).toMatchObject([{ action: "DELETE", sfid: sfidOf(1) }]);
});

test("a change that must be tried again waits for its time, and holds back its own row only", async () => {
  await insert("a");
  await insert("b");
  const [a, b] = await store.claim(lease, 10);
  await store.settle(lease, [
    outcome(a, "retry", { afterSeconds: 60, counts: true }),
    outcome(b, "accepted", { sfid: sfidOf(2) }),
  ]);
  await customer.sql("UPDATE salesforce.contact SET email = 'new@example.com'");

  const early = await store.claim(lease, 10);
  laterBy(60);
  const due = await store.claim(lease, 10);

  expect(early).toMatchObject([{ recordId: 2, sfid: sfidOf(2) }]);
  expect(due).toMatchObject([
    { recordId: 1, action: "INSERT", attempts: 1 },
    { recordId: 1, action: "UPDATE", attempts: 0 },
  ]);
});

test("a change that is put off holds back its row whatever its message says, unless it waits for its parent", async () => {
  await insert("a");
  const later = new Date(customer.now.getTime() + 3_600_000);
  const putOff = (message: string | null) =>
    customer.sql("UPDATE salesforce._trigger_log SET due_at = $1, sf_message = $2 WHERE id = 1", [later, message]);
  await putOff(null);
  await customer.sql("UPDATE salesforce.contact SET email = 'a@example.com'");

  expect(await store.claim(lease, 10)).toEqual([]);
  await putOff("UNABLE_TO_LOCK_ROW: held");
  expect(await store.claim(lease, 10)).toEqual([]);
  await putOff("WAITS_FOR_PARENT: Salesforce has no Account whose Key__c is A-1");
  expect((await store.claim(lease, 10)).map(({ action }) => action)).toEqual(["INSERT", "UPDATE"]);
});

test("a newer change of a row gives what failed on it another try", async () => {
  await insert("Curie");
  const [failed] = await store.claim(lease, 10);
  await store.settle(lease, [outcome(failed, "refused")]);
  const alone = await store.claim(lease, 10);
  await customer.sql("UPDATE salesforce.contact SET email = 'm@example.com'");

  const again = await store.claim(lease, 10);
  await store.settle(
    lease,
    again.map((change) => outcome(change, "accepted", { sfid: sfidOf(1) })),
  );

  expect(alone).toEqual([]);
  expect(again).toMatchObject([{ action: "INSERT", values: { lastname: "Curie" } }, { action: "UPDATE" }]);
  expect(await customer.sql("SELECT sfid, _ab_err FROM salesforce.contact")).toEqual([
    { sfid: sfidOf(1), _ab_err: null },
  ]);
  expect(await customer.sql("SELECT success::int, failed::int FROM salesforce._bridge_totals")).toEqual([
    { success: 2, failed: 0 },
  ]);
});

test("what a lost cycle had claimed is NEW again unless it was marked sent", async () => {
  for (const lastname of ["a", "b", "c"]) await insert(lastname);
  const [a, b] = await store.claim(lease, 10);
  await store.markSent(lease, "batch", idsOf([a, b].filter((change) => change !== undefined)));
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = now()");
  const next = await customer.cycle();

  const { doubts } = await next.store.recover(next.lease);
  const claimed = await next.store.claim(next.lease, 10);

  expect(next.begun.waiting.unfinished).toBe(true);
  expect(doubts).toMatchObject([
    { batchId: "batch", sentAt: customer.now, changes: [{ recordId: 1 }] },
    { batchId: "batch", sentAt: customer.now, changes: [{ recordId: 2 }] },
  ]);
  expect(claimed).toMatchObject([{ recordId: 3 }]);
  await expect(store.settle(lease, [outcome(a, "accepted")])).rejects.toThrow(/lost its lease/);
  expect(await states()).toEqual(["PENDING", "PENDING", "PENDING"]);
  expect(await customer.sql("SELECT DISTINCT sfid, _ab_lastop FROM salesforce.contact")).toEqual([
    { sfid: null, _ab_lastop: "PENDING" },
  ]);
});

test("released changes are claimed again at once", async () => {
  await insert("a");
  await insert("b");
  const claimed = await store.claim(lease, 10);

  await store.release(lease, idsOf(claimed));

  expect(await states()).toEqual(["NEW", "NEW"]);
  expect(idsOf(await store.claim(lease, 10))).toEqual(idsOf(claimed));
});

test("a result is kept although a transaction holds its row, and the row gets it afterwards", async () => {
  await insert("Curie");
  const [sent] = await store.claim(lease, 10);
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("UPDATE salesforce.contact SET email = 'user@example.com'");

  await store.settle(lease, [outcome(sent, "accepted", { sfid: sfidOf(1) })]);
  const while_held = await store.claim(lease, 10);
  await user.query("COMMIT");
  const after = await store.claim(lease, 10);

  expect(await states()).toEqual(["SUCCESS", "PENDING"]);
  expect(while_held).toEqual([]);
  expect(after).toMatchObject([{ action: "UPDATE", sfid: sfidOf(1) }]);
  expect(await customer.sql("SELECT sfid, _ab_lastop FROM salesforce.contact")).toEqual([
    { sfid: sfidOf(1), _ab_lastop: "PENDING" },
  ]);
});

test("a row that waits for its result gets it from the next cycle, though nothing else waits", async () => {
  await insert("Curie");
  const [sent] = await store.claim(lease, 10);
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("SELECT FROM salesforce.contact FOR UPDATE");
  await store.settle(lease, [outcome(sent, "accepted", { sfid: sfidOf(1) })]);
  await user.query("COMMIT");
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });

  const next = await customer.cycle();
  await next.store.recover(next.lease);

  expect(next.begun.waiting).toMatchObject({ changes: false, unfinished: true });
  expect(await customer.sql("SELECT sfid, _ab_lastop FROM salesforce.contact")).toEqual([
    { sfid: sfidOf(1), _ab_lastop: "INSERTED" },
  ]);
});

test("totals say exactly how many settled changes there are, also after old ones have gone", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, 30) i");
  const changes = await store.claim(lease, 100);
  await store.settle(
    lease,
    changes.map((change, index) => outcome(change, index < 10 ? "refused" : "accepted", { sfid: sfidOf(index) })),
  );
  const totals = () => customer.sql("SELECT success::int, failed::int FROM salesforce._bridge_totals");
  const full = await totals();
  await customer.sql("TRUNCATE salesforce.contact");
  await customer.sql(
    `UPDATE salesforce._trigger_log SET created_at = processed_at - interval '32 days',
       processed_at = processed_at - interval '32 days' WHERE id <= 15`,
  );

  const end = await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });

  expect(full).toEqual([{ success: 20, failed: 10 }]);
  expect(end).toEqual({
    rowsSynced: 20,
    rowsFailed: 10,
    apiCalls: {},
    queueDepth: 0,
    outboxWaits: true,
    refusedWriteBacks: { rows: 0, sqlState: null },
    oldestWaitingSeconds: 0,
  });
  expect(await totals()).toEqual([{ success: 15, failed: 0 }]);
  expect(await customer.sql("SELECT FROM salesforce._trigger_log")).toHaveLength(15);
});

test.each(
  firstInGate(1, [
    ["without statistics", "contact", "SELECT"],
    ["that holds nothing of the table", "lead", "ANALYZE salesforce._trigger_log"],
  ] as const),
)("a log %s is not read to its end to see whether something in it is old", async (_, table, prepare) => {
  await customer.sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");
  await customer.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, state, last_operation, processed_at)
     SELECT 'UPDATE', $1, i, 'SUCCESS', 'UPDATED', now() FROM generate_series(1, 20000) i`,
    [table],
  );
  await customer.sql(prepare);
  await forgetReads(customer);

  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  await store.close();

  expect(await rowsReadOfTheLog(customer)).toBeLessThan(100);
});

test("what is kept for a time goes when its time is over", async () => {
  await insert("Curie");
  await pushAll({ store, lease }, () => sfidOf(1), customer.now);
  await customer.sql("DELETE FROM salesforce.contact");
  await pushAll({ store, lease }, () => null, customer.now);
  const kept = async () => [
    (await customer.sql("SELECT FROM salesforce._bridge_pushed")).length,
    (await customer.sql("SELECT FROM salesforce._bridge_tombstones")).length,
  ];
  const end = async (days: number) => {
    customer.now = new Date(customer.now.getTime() + days * 24 * 60 * 60 * 1000);
    const { store: later, lease: laterLease } = await customer.cycle();
    await later.finish(laterLease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
    return await kept();
  };
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });

  expect([await kept(), await end(9), await end(23)]).toEqual([
    [2, 1],
    [0, 1],
    [0, 0],
  ]);
});

test("ten failed rows of one cycle are one event, though the cycle never came to its end", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, 10) i");
  const changes = await store.claim(lease, 100);
  await store.settle(
    lease,
    changes.map((change) => outcome(change, "refused")),
  );
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = now()");

  const next = await customer.cycle();
  await next.store.finish(next.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  await customer.cycle();

  const spikes = (await next.store.outbox(100)).filter(({ event }) => event === "sync.failure_spike");
  expect(next.begun.waiting.outbox).toBe(true);
  expect(spikes.map(({ detail }) => detail)).toEqual([
    { failed_count: 10, mapping_id: "map_contact", sf_object: "Contact" },
  ]);
});

test("events leave the outbox oldest first and are gone once they are forgotten", async () => {
  await insert("a");
  await insert("b");
  await store.settle(
    lease,
    (await store.claim(lease, 10)).map((change) => outcome(change, "refused")),
  );

  const events = await store.outbox(10);
  await store.forget(events.map(({ id }) => id));

  expect(events.map(({ detail }) => detail["record_id"])).toEqual([1, 2]);
  expect(await store.outbox(10)).toEqual([]);
});

test("calls add up under their labels", async () => {
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: { SOAP: 2 }, error: null });
  const second = await customer.cycle();
  const load = await customer.cycle({ work: "load" });

  await load.store.finish(load.lease, { marks: {}, pulledAt: null, apiCalls: { BULK: 7 }, error: null });
  const end = await second.store.finish(second.lease, {
    marks: {},
    pulledAt: null,
    apiCalls: { SOAP: 1, REST: 3 },
    error: null,
  });

  expect(end.apiCalls).toEqual({ SOAP: 3, REST: 3, BULK: 7 });
});

/** Every table of a test is searched for secrets in the end, which takes seconds for tens of megabytes. */
const forgetLongValues = () => customer.sql("TRUNCATE salesforce._trigger_log");

longTest("changes that are large together are claimed in parts, so that they fit into memory", async () => {
  for (const lastname of ["a", "b", "c"]) await insert(lastname);
  await customer.sql(
    `UPDATE salesforce._trigger_log SET "values" = jsonb_build_object('lastname',
       (SELECT string_agg(md5(id::text || i), '') FROM generate_series(1, 100000) i))`,
  );

  const parts = [await store.claim(lease, 10), await store.claim(lease, 10), await store.claim(lease, 10)];

  await forgetLongValues();
  expect(parts.map((part) => part.length)).toEqual([2, 1, 0]);
});

test("changes that PostgreSQL has packed are claimed by what they are unpacked, and one is always claimed", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'a' FROM generate_series(1, 41)");
  await customer.sql(
    `UPDATE salesforce._trigger_log SET "values" = CASE id WHEN 1 THEN jsonb_build_object('lastname', repeat('x', 17000000))
       ELSE jsonb_build_object('other', repeat('x', 500000)) END`,
  );

  const parts = [];
  for (let part = await store.claim(lease, 100); part.length > 0; part = await store.claim(lease, 100))
    parts.push(part);

  await forgetLongValues();
  expect(parts.map((part) => part.length)).toEqual([1, 31, 9]);
});

test("a text far beyond what its field takes is read cut, and is as much too long as it was", async () => {
  const texts = [
    "repeat('x', 1200000)",
    "repeat(' ', 500) || repeat('y', 1200000) || repeat(E'\\r\\n', 10)",
    "'a' || repeat(' ', 1200000) || 'b'",
    "repeat('😀', 300000)",
    "'a' || repeat(E'\\r\\n', 600000) || 'b'",
    "repeat(E'\\r\\n', 600000) || 'z'",
    "repeat(' ', 1200000) || 'short'",
  ];
  for (const text of texts) {
    await insert("a");
    await customer.sql(
      `UPDATE salesforce._trigger_log SET "values" = jsonb_build_object('lastname', ${text}, 'email', NULL), old = NULL
       WHERE id = (SELECT max(id) FROM salesforce._trigger_log)`,
    );
  }

  const claimed = await store.claim(lease, 100);
  await forgetLongValues();

  const lastname = column("LastName", { length: 80 });
  const read = claimed.map(({ values }) => values["lastname"] ?? "");
  expect(read.map((text) => isTooLong(lastname, text))).toEqual([true, true, true, true, true, false, false]);
  expect(read.slice(0, 5).map((text) => [...text].length)).toEqual([162, 162, 162, 162, 162]);
  expect(read.slice(5).map((text) => text.trim())).toEqual(["z", "short"]);
});

test.each([3, 2_001])(
  "rows whose keys are beyond what a number holds exactly are claimed, %i at once",
  async (count) => {
    // Their table has columns of the names by which a claim names what it found.
    await customer.sql(
      "ALTER TABLE salesforce.contact ADD found text, ADD last text, ADD fit int, ADD is_read boolean",
    );
    await customer.sql(
      `INSERT INTO salesforce.contact (id, lastname) SELECT 9007199254740993 + 2 * i, 'L' || i FROM generate_series(1, $1) i`,
      [count],
    );

    const changes = await store.claim(lease, 2_500);

    expect(changes.map(({ values }) => values["lastname"])).toEqual(
      Array.from({ length: count }, (_, i) => `L${i + 1}`),
    );
  },
);

longTest("a backlog of many claims is sent whole and in order", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, 1000) i");
  const claimed: number[] = [];

  for (let changes = await store.claim(lease, 300); changes.length > 0; changes = await store.claim(lease, 300)) {
    claimed.push(...changes.map(({ recordId }) => recordId));
    await store.settle(
      lease,
      changes.map((change) => outcome(change, "accepted", { sfid: sfidOf(change.recordId) })),
    );
  }

  expect(claimed).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
  const [rows] = await customer.sql(
    "SELECT count(DISTINCT sfid)::int AS written FROM salesforce.contact WHERE _ab_lastop = 'INSERTED'",
  );
  expect(rows).toEqual({ written: 1000 });
});

test("earlier pushed rows recognise their later states", async () => {
  await insert("Curie");
  await pushAll({ store, lease }, () => sfidOf(1), orgTime(1));
  await customer.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska'");

  const changes = await pushAll({ store, lease }, () => null, orgTime(2));

  expect(changes).toMatchObject([{ action: "UPDATE", sfid: sfidOf(1), old: { lastname: "Curie" } }]);
  expect(await customer.sql("SELECT _ab_lastop FROM salesforce.contact")).toEqual([{ _ab_lastop: "UPDATED" }]);
});
