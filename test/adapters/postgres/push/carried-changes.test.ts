import { beforeEach, expect, test } from "vitest";
import { postgresMonitoring } from "../../../../lib/adapters/postgres/operations/monitoring.ts";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import type { Lease, OutboxEvent } from "../../../../lib/sync/ports/lease-ports.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { created, orgTime, pushAll, sfidOf } from "../customer.ts";
import {
  aCustomerForEachTest,
  connection,
  customer,
  END,
  idsOf,
  laterBy,
  log,
  loseLease,
  refused,
  retryFailed,
  send,
  sql,
} from "../world.ts";

let store: CycleStore;
let lease: Lease;
aCustomerForEachTest({ shape: contactShape({ upsertField: "Key__c" }) });
beforeEach(() => begin());

async function begin(): Promise<void> {
  ({ store, lease } = await customer.cycle());
}

/** The lease runs out while its holder says nothing more, and another cycle begins. */
async function lose(): Promise<Awaited<ReturnType<CycleStore["recover"]>>> {
  await loseLease();
  await begin();
  return await store.recover(lease);
}

const insert = (key: string | null = null) =>
  sql("INSERT INTO salesforce.contact (lastname, key__c) VALUES ('Curie', $1)", [key]);
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

/** What the monitoring endpoints show. */
async function results() {
  const database = await postgresMonitoring(() => customer.now).open(connection());
  const all = { table: null, limit: 50, offset: 0 };
  const of = async (state: "NEW" | "PENDING" | "SUCCESS" | "FAILED") =>
    (await database.listActivity({ ...all, state })).total;
  const activity = await database.listActivity({ ...all, state: null });
  return {
    activity: activity.rows.map((row) => (row as { readonly state: string }).state),
    totals: [await of("NEW"), await of("PENDING"), await of("SUCCESS"), await of("FAILED")],
    errors: (await database.listErrors(all)).total,
    waiting: (await database.check()).waitingRows,
  };
}

test("a refused change is reported as FAILED, as it was, at every step of the newer one that carries it", async () => {
  await insert();
  await refuse();
  const whyFailed = async () => (await log("processed_at, sf_message"))[0];
  const before = await whyFailed();
  laterBy(60);
  await update("m@example.com");
  const steps: unknown[] = [];
  const note = async () => steps.push(await results());

  const changes = await claim();
  await note();
  await store.release(lease, idsOf(changes));
  await note();
  await claim();
  await lose();
  await note();
  await sendAll();
  await note();
  const { doubts } = await lose();
  await note();
  const same = await whyFailed();
  for (const doubt of doubts) await acceptTogether(doubt.changes);

  const carried = { activity: ["PENDING", "FAILED"], totals: [0, 1, 0, 1], errors: 1, waiting: 1 };
  const released = { activity: ["NEW", "FAILED"], totals: [1, 0, 0, 1], errors: 1, waiting: 1 };
  expect(changes.map(({ action, attempts }) => `${action} ${attempts}`)).toEqual(["INSERT 0", "UPDATE 0"]);
  expect(steps).toEqual([carried, released, released, carried, carried]);
  expect(same).toEqual(before);
  expect(await results()).toEqual({ activity: ["SUCCESS", "SUCCESS"], totals: [0, 0, 2, 0], errors: 0, waiting: 0 });
});

test("of a write that is refused again only the newest change fails: one event and one error more", async () => {
  await insert();
  await refuse();
  await update("m@example.com");
  await refuse();

  const failedIds = (events: readonly OutboxEvent[]) => events.map(({ detail }) => detail["trigger_log_id"]);
  expect(failedIds(await store.outbox(10))).toEqual([1, 2]);
  expect((await store.finish(lease, END)).rowsFailed).toBe(2);
});

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
  await store.settle(lease, [refused(changes)]);

  expect(meanwhile).toBe(0);
  expect(await retryFailed([1, 2])).toBe(2);
  expect(idsOf(await claim())).toEqual([1, 2]);
});

test("a new row with the upsert value of a refused one that is under way again waits for it", async () => {
  await insert("K-1");
  await refuse();
  await update("m@example.com");
  const changes = await sendAll();
  await insert("k-1");

  const meanwhile = await claim();
  await store.settle(lease, [refused(changes)]);

  expect(meanwhile).toEqual([]);
  expect(idsOf(await claim())).toEqual([3]);
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
});
