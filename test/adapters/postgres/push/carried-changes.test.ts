import { afterEach, beforeEach, expect, test } from "vitest";
import { postgresMonitoring } from "../../../../lib/adapters/postgres/operations/monitoring.ts";
import { retryFailed } from "../../../../lib/adapters/postgres/operations/operations.ts";
import { keepSessions } from "../../../../lib/adapters/postgres/session/request-session.ts";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import type { Lease } from "../../../../lib/sync/ports/lease-ports.ts";
import type { PushOutcome } from "../../../../lib/sync/ports/push-ports.ts";
import { longTest } from "../../../support/run/whole-grid.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";

let customer: Customer;
let store: CycleStore;
let lease: Lease;
beforeEach(async () => {
  customer = await createCustomer({ shape: contactShape({ upsertField: "Key__c" }) });
  await begin();
});
afterEach(() => customer.close());

async function begin(): Promise<void> {
  ({ store, lease } = await customer.cycle());
}

/** The lease runs out while its holder says nothing more, and another cycle begins. */
async function lose(): Promise<Awaited<ReturnType<CycleStore["recover"]>>> {
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await begin();
  return await store.recover(lease);
}

const insert = () => customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
const update = (email: string) => customer.sql("UPDATE salesforce.contact SET email = $1", [email]);
const idsOf = (changes: readonly ClaimedChange[]) => changes.map(({ id }) => id);
const claim = () => store.claim(lease, 100);
const finish = () => store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });

/** One write of all these changes. */
function refused(changes: readonly ClaimedChange[], error = "INVALID: no"): PushOutcome {
  return { kind: "refused", changeIds: idsOf(changes), recordId: changes[0]?.recordId ?? 0, action: "INSERT", error };
}
function accepted(changes: readonly ClaimedChange[]): PushOutcome {
  const recordId = changes[0]?.recordId ?? 0;
  const common = { changeIds: idsOf(changes), recordId, action: "INSERT", answeredAt: orgTime(1) } as const;
  return { ...common, kind: "accepted", sfid: sfidOf(recordId) };
}
function retried(changes: readonly ClaimedChange[], error = "its first answer was lost"): PushOutcome {
  const common = { changeIds: idsOf(changes), recordId: changes[0]?.recordId ?? 0, error };
  return { ...common, kind: "retry", afterSeconds: 0, counts: false };
}

async function refuse(): Promise<readonly ClaimedChange[]> {
  const changes = await claim();
  await store.markSent(lease, "batch of the refused", idsOf(changes));
  await store.settle(lease, [refused(changes)]);
  return changes;
}

/** What the monitoring endpoints show. */
async function results() {
  const monitoring = postgresMonitoring(() => customer.now);
  const database = await monitoring.open({ url: customer.url, schema: "salesforce" });
  const all = { table: null, limit: 50, offset: 0 };
  const of = async (state: "NEW" | "PENDING" | "SUCCESS" | "FAILED") =>
    (await database.listActivity({ ...all, state })).total;
  const activity = await database.listActivity({ ...all, state: null });
  const errors = await database.listErrors(all);
  return {
    activity: activity.rows.map((row) => (row as { readonly state: string }).state),
    totals: [await of("NEW"), await of("PENDING"), await of("SUCCESS"), await of("FAILED")],
    errors: [errors.total, errors.rows.length],
    waiting: (await database.check()).waitingRows,
  };
}
const processed = () =>
  customer.sql("SELECT processed_at, sf_message FROM salesforce._trigger_log WHERE state = 'FAILED' ORDER BY id");

test("a refused change is reported as FAILED, as it was, at every step of the newer one that carries it", async () => {
  await insert();
  await refuse();
  const before = await processed();
  customer.now = new Date(customer.now.getTime() + 60_000);
  await update("m@example.com");
  const carried = { activity: ["PENDING", "FAILED"], totals: [0, 1, 0, 1], errors: [1, 1], waiting: 1 };

  const changes = await claim();
  const whenClaimed = await results();
  await store.release(lease, idsOf(changes));
  const whenGivenBack = await results();
  await claim();
  await lose();
  const whenLost = await results();
  await store.markSent(lease, "batch", idsOf(await claim()));
  const whenSent = await results();
  const { doubts } = await lose();
  const whenInDoubt = await results();
  const same = await processed();
  await store.settle(
    lease,
    doubts.map((doubt) => accepted(doubt.changes)),
  );

  expect(changes).toMatchObject([
    { action: "INSERT", attempts: 0 },
    { action: "UPDATE", attempts: 0 },
  ]);
  expect([whenClaimed, whenSent, whenInDoubt]).toEqual([carried, carried, carried]);
  expect([whenGivenBack, whenLost]).toEqual(
    Array(2).fill({ activity: ["NEW", "FAILED"], totals: [1, 0, 0, 1], errors: [1, 1], waiting: 1 }),
  );
  expect(same).toEqual(before);
  expect(doubts.map((doubt) => doubt.changes)).toMatchObject([[{ action: "INSERT" }, { action: "UPDATE" }]]);
  expect(await results()).toEqual({
    activity: ["SUCCESS", "SUCCESS"],
    totals: [0, 0, 2, 0],
    errors: [0, 0],
    waiting: 0,
  });
});

test("of a write that is refused again only the newest change fails: one event, one error, and nothing else", async () => {
  await insert();
  await refuse();
  const before = await processed();
  await store.forget((await store.outbox(10)).map(({ id }) => id));
  await update("m@example.com");

  await refuse();

  expect((await store.outbox(10)).map(({ event, detail }) => [event, detail["trigger_log_id"]])).toEqual([
    ["record.failed", 2],
  ]);
  expect((await processed())[0]).toEqual(before[0]);
  expect(await customer.sql("SELECT success::int, failed::int FROM salesforce._bridge_totals")).toEqual([
    { success: 0, failed: 2 },
  ]);
  expect((await finish()).rowsFailed).toBe(2);
});

longTest("a row that is refused time and again in one cycle counts once for a spike, ten rows ten times", async () => {
  const spikes = async () => {
    await finish();
    const events = await store.outbox(1_000);
    await store.forget(events.map(({ id }) => id));
    return events.flatMap(({ event, detail }) => (event === "sync.failure_spike" ? [detail["failed_count"]] : []));
  };
  await insert();
  for (let change = 1; change <= 16; change++) {
    await update(`${change}@example.com`);
    await refuse();
  }
  const ofOneRow = await spikes();
  await begin();
  for (let change = 1; change <= 16; change++) await update(`${change}@example.com`);
  await refuse();
  const together = await spikes();
  await begin();
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, 9) i");
  await update("all@example.com");
  const changes = await claim();
  const rows = [...Map.groupBy(changes, ({ recordId }) => recordId).values()];
  await store.settle(
    lease,
    rows.map((ofRow) => refused(ofRow)),
  );

  expect(ofOneRow).toEqual([]);
  expect(together).toEqual([]);
  expect(await spikes()).toEqual([10]);
});

test("an insert that ended in doubt is looked up with its row's next change, then goes with it, and shares its unknown outcome", async () => {
  await insert();
  const [first] = [await claim()];
  await store.markSent(lease, "first", idsOf(first));
  await store.settle(lease, [refused(first, "IN_DOUBT: who knows")]);
  await update("m@example.com");

  const again = await claim();
  const given = await lose(); // before anything of it is known
  const onceMore = await claim();
  await store.settle(lease, [retried(onceMore.slice(0, 1))]);
  await store.release(lease, idsOf(onceMore.slice(1)));
  const free = await claim();
  await store.markSent(lease, "second", idsOf(free));
  const { doubts } = await lose();

  expect(given.doubts).toEqual([]);
  for (const claimed of [again, onceMore]) expect(claimed).toMatchObject([{ sent: { batchId: "first" } }, {}]);
  expect(free.map(({ action, sent }) => [action, sent])).toEqual([
    ["INSERT", undefined],
    ["UPDATE", undefined],
  ]);
  expect(doubts).toMatchObject([{ batchId: "second", changes: [{ action: "INSERT" }, { action: "UPDATE" }] }]);
});

test("a write that ends in doubt leaves in doubt what it carries, too", async () => {
  await insert();
  await refuse();
  await update("m@example.com");
  const changes = await claim();
  await store.markSent(lease, "batch", idsOf(changes));
  await store.settle(lease, [refused(changes, "IN_DOUBT: who knows")]);
  await update("n@example.com");

  const again = await claim();

  expect(again.map(({ sent }) => sent?.batchId)).toEqual(["batch", "batch", undefined]);
});

test("an operator's retry leaves alone what a newer change carries just now, and takes it again afterwards", async () => {
  const kept = keepSessions(() => customer.now).take({ url: customer.url, schema: "salesforce" });
  await insert();
  await refuse();
  await update("m@example.com");
  const changes = await claim();

  const meanwhile = await retryFailed(kept, "salesforce", customer.shape.mappingId, [1]);
  await store.settle(lease, [refused(changes)]);

  expect(meanwhile).toBe(0);
  expect(await retryFailed(kept, "salesforce", customer.shape.mappingId, [1, 2])).toBe(2);
  expect(idsOf(await claim())).toEqual([1, 2]);
});

test("a new row with the upsert value of a refused one that is under way again waits for it", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname, key__c) VALUES ('Curie', 'K-1')");
  await refuse();
  await update("m@example.com");
  const changes = await claim();
  await store.markSent(lease, "batch", idsOf(changes));
  await customer.sql("INSERT INTO salesforce.contact (lastname, key__c) VALUES ('Other', 'k-1')");

  const meanwhile = await claim();
  await store.settle(lease, [refused(changes)]);

  expect(meanwhile).toEqual([]);
  expect(idsOf(await claim())).toEqual([3]);
});

test("a pull leaves a refused value on its row while a newer change waits or is under way, and applies the record's other changes", async () => {
  await insert();
  await pushAll({ store, lease }, () => sfidOf(1), orgTime(1));
  await update("refused@example.com");
  await refuse();
  await customer.sql("UPDATE salesforce.contact SET key__c = 'K'");
  const pull = (second: number, lastname: string) =>
    store.apply(lease, page([image(1, second, { lastname, email: null })]));

  await pull(10, "waits");
  const whenWaiting = await customer.sql("SELECT lastname, email FROM salesforce.contact");
  const changes = await claim();
  await store.markSent(lease, "batch", idsOf(changes));
  await pull(20, "sent");

  expect(whenWaiting).toEqual([{ lastname: "waits", email: "refused@example.com" }]);
  expect(changes).toMatchObject([{ values: { email: "refused@example.com" } }, { values: { key__c: "K" } }]);
  expect(await customer.sql("SELECT lastname, email FROM salesforce.contact")).toEqual([
    { lastname: "sent", email: "refused@example.com" },
  ]);
});

test("what failed of a row without an sfid stays as long as the row does", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('lives'), ('linked'), ('gone'), ('sent')");
  const changes = await claim();
  await store.settle(lease, [...changes.slice(0, 3).map((change) => refused([change])), accepted(changes.slice(3))]);
  await customer.sql("UPDATE salesforce.contact SET email = 'm@example.com' WHERE id IN (1, 4)");
  const updates = await claim();
  await store.settle(
    lease,
    [...Map.groupBy(updates, ({ recordId }) => recordId).values()].map((ofRow) => refused(ofRow)),
  );
  await customer.sql("SET bridge.in_sync = 'contact'");
  await customer.sql("UPDATE salesforce.contact SET sfid = $1 WHERE id = 2", [sfidOf(2)]);
  await customer.sql("DELETE FROM salesforce.contact WHERE id = 3");
  await customer.sql("RESET bridge.in_sync");
  await customer.sql(
    `UPDATE salesforce._trigger_log SET created_at = processed_at - interval '32 days',
       processed_at = processed_at - interval '32 days'`,
  );

  await finish();
  await begin();
  await customer.sql("UPDATE salesforce.contact SET key__c = 'K' WHERE id = 1");

  expect(await customer.sql("SELECT success::int, failed::int FROM salesforce._bridge_totals")).toEqual([
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
  await customer.sql(
    "UPDATE salesforce._trigger_log SET created_at = processed_at - interval '32 days', processed_at = processed_at - interval '32 days'",
  );
  await customer.sql("UPDATE salesforce.contact SET key__c = 'K'");
  const changes = await claim();
  await store.markSent(lease, "batch", idsOf(changes));

  const { store: other, lease: longWork } = await customer.cycle({ work: "load" });
  await other.finish(longWork, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  await store.settle(lease, [accepted(changes)]);

  expect(await customer.sql("SELECT id::int, state FROM salesforce._trigger_log ORDER BY id")).toEqual([
    { id: 2, state: "SUCCESS" },
    { id: 3, state: "SUCCESS" },
  ]);
});

longTest(
  "a cycle of the version before continues where one of this version was lost, and the other way round",
  async () => {
    await insert();
    await refuse();
    await update("m@example.com");
    await claim();
    await customer.sql("UPDATE salesforce._trigger_log SET state = 'NEW', fence = NULL WHERE state = 'PENDING'");
    await customer.sql("DELETE FROM salesforce._bridge_in_hand");
    await customer.sql(
      `UPDATE salesforce._trigger_log SET state = 'PENDING', fence = 1000, processed_at = NULL, processed_tx = NULL,
       last_operation = NULL, attempts = 0, sent_at = now(), batch_id = 'theirs'`,
    );
    await customer.sql("UPDATE salesforce._bridge_totals SET failed = failed - 1");
    await customer.sql("INSERT INTO salesforce._bridge_in_hand (id, table_name, ids) VALUES ('x', 'contact', '{1,2}')");

    const { doubts } = await lose();
    await store.settle(
      lease,
      doubts.map((doubt) => accepted(doubt.changes)),
    );

    expect(doubts).toMatchObject([{ changes: [{ action: "INSERT" }, { action: "UPDATE" }] }]);
    expect((await results()).totals).toEqual([0, 0, 2, 0]);
  },
);
