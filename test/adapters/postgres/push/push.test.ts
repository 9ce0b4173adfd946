import { beforeEach, expect, test } from "vitest";
import { isTooLong } from "../../../../lib/model/change/text-limit.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import type { Lease } from "../../../../lib/sync/ports/lease-ports.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { column } from "../../../support/worlds/shapes.ts";
import { accepted, created, sfidOf } from "../customer.ts";
import { claimAndSend, END, idsOf, loseLease, refused, retriedIn, send } from "../cycles.ts";
import {
  aCustomerForEachTest,
  customer,
  insert,
  insertMany,
  laterBy,
  log,
  rows,
  sql,
  states,
  transaction,
} from "../world.ts";

let store: CycleStore;
let lease: Lease;
aCustomerForEachTest();
beforeEach(async () => {
  ({ store, lease } = await customer.cycle());
});

const claim = (most = 10) => store.claim(lease, most);

test.each([
  ["UPDATE", "UPDATE salesforce.contact SET lastname = 'Sklodowska'", false],
  ["UPDATE", "UPDATE salesforce.contact SET email = 'user@example.com'", true],
  ["DELETE", "DELETE FROM salesforce.contact", false],
  ["DELETE", "DELETE FROM salesforce.contact", true],
])(
  "an %s of a row that is being inserted waits for the answer, then knows the sfid: %s, not committed by then: %s",
  async (action, statement, isOpen) => {
    await insert("Curie");
    const sent = await claimAndSend({ store, lease });
    const user = isOpen ? await transaction(statement) : null;
    if (!isOpen) await sql(statement);
    const meanwhile = await claim();

    await store.settle(lease, sent.map(created));
    if (user) expect(await claim()).toEqual([]);
    await user?.query("COMMIT");

    expect(meanwhile).toEqual([]);
    expect(await states()).toEqual(["SUCCESS", "NEW"]);
    expect(await claim()).toMatchObject([{ action, sfid: sfidOf(1) }]);
    if (action === "UPDATE")
      expect(await rows("sfid, _ab_lastop")).toEqual([{ sfid: sfidOf(1), _ab_lastop: "PENDING" }]);
  },
);

test("a row of whose changes a transaction holds one is left whole, and other rows are claimed", async () => {
  await insert("Curie");
  await sql("UPDATE salesforce.contact SET email = 'marie@example.com'");
  await insert("Noether");
  const held = await transaction(
    "SELECT FROM salesforce._trigger_log WHERE record_id = 1 AND action = 'UPDATE' FOR UPDATE",
  );

  expect((await claim()).map(({ recordId }) => recordId)).toEqual([2]);
  expect(await states()).toEqual(["NEW", "NEW", "PENDING"]);

  await held.query("COMMIT");
  expect((await claim()).map(({ recordId }) => recordId)).toEqual([1, 1]);
});

test("a change that must be tried again waits for its time, and holds back its own row only", async () => {
  await insert("a");
  await insert("b");
  const [a, b] = await claim();
  if (!a || !b) throw new Error("nothing was claimed");
  await store.settle(lease, [retriedIn(60, a), created(b)]);
  await sql("UPDATE salesforce.contact SET email = NULL, lastname = lastname || '+'");

  const early = await claim();
  laterBy(60);
  const due = await claim();

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
    sql("UPDATE salesforce._trigger_log SET due_at = $1, sf_message = $2 WHERE id = 1", [later, message]);
  await sql("UPDATE salesforce.contact SET email = 'a@example.com'");

  for (const message of [null, "UNABLE_TO_LOCK_ROW: held"]) {
    await putOff(message);
    expect(await claim()).toEqual([]);
  }
  await putOff("WAITS_FOR_PARENT: Salesforce has no Account whose Key__c is A-1");
  expect((await claim()).map(({ action }) => action)).toEqual(["INSERT", "UPDATE"]);
});

test("what a lost cycle had claimed is NEW again unless it was marked sent, and is named until it is settled", async () => {
  for (const lastname of ["a", "b", "c", "job"]) await insert(lastname);
  const [a, b, , ofJob] = await claim();
  if (!a || !b || !ofJob) throw new Error("too little was claimed");
  await send({ store, lease }, [a, b]);
  await send({ store, lease }, [ofJob], "bulk job");
  await loseLease();
  const next = await customer.cycle();

  const { doubts, jobs } = await next.store.recover(next.lease);
  const claimed = await next.store.claim(next.lease, 10);

  expect(next.begun.waiting.unfinished).toBe(true);
  expect(doubts).toMatchObject(
    [1, 2].map((recordId) => ({ batchId: "batch", sentAt: customer.now, changes: [{ recordId }] })),
  );
  expect(jobs).toMatchObject([{ batchId: "bulk job", sentAt: customer.now }]);
  expect(claimed).toMatchObject([{ recordId: 3 }]);
  await expect(store.settle(lease, [accepted(a)])).rejects.toThrow(/lost its lease/);
  expect(await states()).toEqual(["PENDING", "PENDING", "PENDING", "PENDING"]);
  expect(await rows("DISTINCT id, sfid, _ab_lastop")).toEqual(
    ["1", "2", "3", "4"].map((id) => ({ id, sfid: null, _ab_lastop: "PENDING" })),
  );
  const inJob = await next.store.doubtsIn(next.lease, "bulk job");
  const named = [...doubts, ...inJob].flatMap(({ changes }) => changes);
  await next.store.settle(next.lease, [...named, ...claimed].map(created));
  await next.store.finish(next.lease, END);
  const last = await customer.cycle();
  await last.store.recover(last.lease);
  expect(last.begun.waiting.unfinished).toBe(true);
  expect(await sql("SELECT FROM salesforce._bridge_in_hand")).toEqual([]);
});

test("ten failed rows of one cycle are one event, though the cycle never came to its end; events leave oldest first", async () => {
  await insertMany(10);
  await store.settle(
    lease,
    (await claim()).map((change) => refused(change)),
  );
  await loseLease();

  const next = await customer.cycle();
  await next.store.finish(next.lease, END);
  await customer.cycle();

  const events = await next.store.outbox(100);
  expect(next.begun.waiting.outbox).toBe(true);
  expect(events.filter(({ event }) => event === "sync.failure_spike").map(({ detail }) => detail)).toEqual([
    { failed_count: 10, mapping_id: "map_contact", sf_object: "Contact" },
  ]);
  const failures = events.filter(({ event }) => event === "record.failed");
  expect(failures.map(({ detail }) => detail["record_id"])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  await store.forget(events.map(({ id }) => id));
  expect(await store.outbox(10)).toEqual([]);
});

test("calls add up under their labels", async () => {
  await store.finish(lease, { ...END, apiCalls: { SOAP: 2 } });
  const second = await customer.cycle();
  const load = await customer.cycle({ work: "load" });

  await load.store.finish(load.lease, { ...END, apiCalls: { BULK: 7 } });
  const end = await second.store.finish(second.lease, { ...END, apiCalls: { SOAP: 1, REST: 3 } });

  expect(end.apiCalls).toEqual({ SOAP: 3, REST: 3, BULK: 7 });
});

/** Every table of a test is searched for secrets in the end, which takes seconds for tens of megabytes. */
const forgetLongValues = () => sql("TRUNCATE salesforce._trigger_log");

longTest(
  "changes that PostgreSQL has packed are claimed by what they are unpacked, and one is always claimed",
  async () => {
    await insertMany(41);
    await sql(
      `UPDATE salesforce._trigger_log SET "values" = CASE id WHEN 1 THEN jsonb_build_object('lastname', repeat('x', 17000000))
       ELSE jsonb_build_object('other', repeat('x', 500000)) END`,
    );

    const parts = [await claim(100), await claim(100), await claim(100), await claim(100)];

    await forgetLongValues();
    expect(parts.map((part) => part.length)).toEqual([1, 31, 9, 0]);
  },
);

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
    await sql(
      `UPDATE salesforce._trigger_log SET "values" = jsonb_build_object('lastname', ${text}, 'email', NULL), old = NULL
       WHERE id = (SELECT max(id) FROM salesforce._trigger_log)`,
    );
  }

  const claimed = await claim(100);
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
    await sql("ALTER TABLE salesforce.contact ADD found text, ADD last text, ADD fit int, ADD is_read boolean");
    await sql(
      `INSERT INTO salesforce.contact (id, lastname) SELECT 9007199254740993 + 2 * i, 'L' || i FROM generate_series(1, $1) i`,
      [count],
    );

    const changes = await claim(2_500);

    expect(changes.map(({ values }) => values["lastname"])).toEqual(
      (await rows("lastname")).map((row) => row["lastname"]),
    );
    expect(idsOf(changes)).toEqual((await log("id::int")).map(({ id }) => id));
  },
);
