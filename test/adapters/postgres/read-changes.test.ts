import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ChangedMeanwhile,
  type ClaimedChange,
  type CycleStore,
  type Lease,
  LeaseLost,
} from "../../../lib/sync/cycle/ports.ts";
import { type Customer, createCustomer, created } from "./customer.ts";

/** So many are claimed by reading them. */
const MANY = 2_001;

let customer: Customer;
let store: CycleStore;
let lease: Lease;
beforeEach(async () => {
  customer = await createCustomer();
  ({ store, lease } = await customer.cycle());
  await customer.sql(
    "INSERT INTO salesforce.contact (lastname, sfid) SELECT 'L' || i, 'X' || i FROM generate_series(1, $1::int) i",
    [MANY],
  );
});
afterEach(() => customer.close());

const idsOf = (changes: readonly ClaimedChange[]) => changes.map(({ id }) => id);
const states = async () =>
  Object.fromEntries(
    (await customer.sql("SELECT state, count(*)::int AS n FROM salesforce._trigger_log GROUP BY state")).map((row) => [
      row["state"],
      row["n"],
    ]),
  );
const mark = (changes: readonly ClaimedChange[]) => store.markSent(lease, "batch", idsOf(changes));
describe("many changes", () => {
  test("are written once before they are sent, with the batch that carries them", async () => {
    const changes = await store.claim(lease, 10_000);
    const claimed = await states();
    const [some, others] = [changes.slice(0, 5), changes.slice(5)];
    await mark(some);
    const marked = await states();
    await mark(others);
    await store.settle(lease, changes.map(created));

    expect([claimed, marked]).toEqual([{ NEW: MANY }, { NEW: MANY - 5, PENDING: 5 }]);
    expect(await states()).toEqual({ SUCCESS: MANY });
    const named =
      "SELECT count(*)::int AS n FROM salesforce._trigger_log WHERE batch_id = 'batch' AND sent_at IS NOT NULL";
    expect(await customer.sql(named)).toEqual([{ n: MANY }]);
  });

  test("are NEW when they are given back, and can be claimed again", async () => {
    await store.release(lease, idsOf(await store.claim(lease, 10_000)));

    expect(await states()).toEqual({ NEW: MANY });
    expect(await store.claim(lease, 10_000)).toHaveLength(MANY);
  });

  test("of which nothing is sent are settled as they are", async () => {
    const changes = await store.claim(lease, 10_000);

    await store.settle(
      lease,
      changes.map(({ id, recordId }) => ({ kind: "settled", changeIds: [id], recordId })),
    );

    expect(await states()).toEqual({ SUCCESS: MANY });
  });

  test.each([
    [
      "a page of long work has changed",
      `UPDATE salesforce._trigger_log SET "values" = '{"lastname": "Theirs"}' WHERE id = 7`,
    ],
    ["somebody has held", "UPDATE salesforce._trigger_log SET held = true WHERE id = 7"],
    ["was taken away", "DELETE FROM salesforce._trigger_log WHERE id = 7"],
    ["now belongs to another row", "UPDATE salesforce.contact SET id = 99999 WHERE id = 7"],
  ])("one of which %s meanwhile are not sent as they were read", async (_, statement) => {
    const changes = await store.claim(lease, 10_000);
    await customer.sql(statement);

    await expect(mark(changes)).rejects.toBeInstanceOf(ChangedMeanwhile);

    expect(await states()).not.toHaveProperty("PENDING");
    const again = await store.claim(lease, 10_000);
    expect(await states(), "claimed by writing from then on").toMatchObject({ PENDING: again.length });
    const [now] = await customer.sql(
      `SELECT "values" ->> 'lastname' AS lastname, record_id::int FROM salesforce._trigger_log WHERE id = 7 AND NOT held`,
    );
    const seventh = again.find(({ id }) => id === 7);
    expect(seventh && { lastname: seventh.values["lastname"], record_id: seventh.recordId }).toEqual(now);
    await mark(again);
  });

  test("are sent as they were read, and settled, when some of their rows change again; what is new goes after them", async () => {
    const changes = await store.claim(lease, MANY);
    await customer.sql("UPDATE salesforce.contact SET lastname = 'again' WHERE id <= 3");

    expect(await store.claim(lease, MANY), "their rows are in hand").toEqual([]);
    await mark(changes);
    await store.settle(lease, changes.map(created));

    const shown = "SELECT _ab_lastop, count(*)::int AS n FROM salesforce.contact GROUP BY 1 ORDER BY 1";
    expect(await customer.sql(shown)).toEqual([
      { _ab_lastop: "INSERTED", n: MANY - 3 },
      { _ab_lastop: "PENDING", n: 3 },
    ]);
    const next = await store.claim(lease, 10_000);
    expect(next.map(({ recordId, values }) => [recordId, values["lastname"]])).toEqual(
      [1, 2, 3].map((id) => [id, "again"]),
    );
  });

  test("are all NEW when they are given back after some of their rows have changed again", async () => {
    const changes = await store.claim(lease, MANY);
    await customer.sql("UPDATE salesforce.contact SET lastname = 'again' WHERE id <= 3");
    await store.claim(lease, MANY);

    await store.release(lease, idsOf(changes));

    expect(await states()).toEqual({ NEW: MANY + 3 });
  });

  test("one of which somebody holds are not waited for", async () => {
    const changes = await store.claim(lease, 10_000);
    const other = await customer.connect();
    await other.query("BEGIN");
    await other.query("SELECT FROM salesforce._trigger_log WHERE id = 7 FOR UPDATE");

    await expect(mark(changes)).rejects.toBeInstanceOf(ChangedMeanwhile);

    await other.query("COMMIT");
    expect(await states()).toEqual({ NEW: MANY });
  });

  test.each([
    ["lost its lease", "UPDATE salesforce._bridge_state SET fence = fence + 1"],
    ["another configuration", "UPDATE salesforce._bridge_state SET config_version = config_version + 1"],
  ])("are not marked by whoever has %s", async (_, statement) => {
    const changes = await store.claim(lease, 10_000);
    await customer.sql(statement);

    await expect(mark(changes)).rejects.toBeInstanceOf(LeaseLost);

    expect(await states()).toEqual({ NEW: MANY });
  });

  test.each([
    ["deletes its row", "DELETE FROM salesforce.contact WHERE id = 7", {}],
    [
      "has failed before",
      "UPDATE salesforce._trigger_log SET state = 'FAILED', last_operation = 'FAILED', processed_at = now() WHERE id = 7",
      { FAILED: 1 },
    ],
  ])("one of which %s are PENDING at once", async (_, statement, failed: { readonly FAILED?: number }) => {
    await customer.sql(statement);
    await customer.sql("UPDATE salesforce.contact SET email = 'a@example.com' WHERE id = 7");

    const changes = await store.claim(lease, 10_000);

    expect(await states()).toEqual({ PENDING: changes.length - (failed.FAILED ?? 0), ...failed });
  });
});
