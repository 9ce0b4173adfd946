import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import type { CycleStore } from "../../../../lib/sync/ports/cycle-ports.ts";
import { type Lease, LeaseLost } from "../../../../lib/sync/ports/lease-ports.ts";
import { firstInGate, longTest } from "../../../support/run/whole-grid.ts";
import {
  accepted,
  acceptedAt,
  type Customer,
  createCustomer,
  created,
  image,
  orgTime,
  page,
  pushAll,
  sfidOf,
  untilSomebodyWaits,
} from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const EDIT = "UPDATE salesforce.contact SET email = 'again@example.com' WHERE lastname = 'Sklodowska'";

const rows = () => customer.sql("SELECT lastname, _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id");
const log = () =>
  customer.sql("SELECT record_id::int, action, state, row_owed FROM salesforce._trigger_log ORDER BY id");

/** Rows that have records, whose names the application has changed; a cycle; `before` gets its statements. */
async function changedRows(numbers: readonly number[], before?: (statement: string) => Promise<void>) {
  const first = await customer.cycle();
  await first.store.apply(first.lease, page(numbers.map((number) => image(number, 1, { lastname: `L${number}` }))));
  await first.store.finish(first.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  await customer.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
  const { store, lease } = await customer.cycle(before === undefined ? {} : { before });
  return { store, lease, sent: await store.claim(lease, 10) };
}

test("rows get their results with the change that is settled, each its own", async () => {
  const { store, lease, sent } = await changedRows([1, 2, 3]);
  const [a, b, c] = sent as [ClaimedChange, ClaimedChange, ClaimedChange];

  await store.settle(lease, [
    accepted(a),
    { ...b, kind: "refused", changeIds: [b.id], action: "UPDATE", error: "X: no" },
    { ...c, kind: "retry", changeIds: [c.id], afterSeconds: 60, counts: true, error: "busy" },
  ]);

  expect(await rows()).toEqual([
    { lastname: "Sklodowska", _ab_lastop: "UPDATED", _ab_err: null },
    { lastname: "Sklodowska", _ab_lastop: "FAILED", _ab_err: "X: no" },
    { lastname: "Sklodowska", _ab_lastop: "PENDING", _ab_err: null },
  ]);
  expect((await log()).map(({ state, row_owed }) => [state, row_owed])).toEqual([
    ["SUCCESS", false],
    ["FAILED", false],
    ["NEW", false],
  ]);
});

describe("saves that ended alike", () => {
  test("leave what they would leave among others", async () => {
    const { store, lease, sent } = await changedRows([1, 2, 3, 4]);
    const [a, b, c, d] = sent as [ClaimedChange, ClaimedChange, ClaimedChange, ClaimedChange];

    await store.settle(lease, [accepted(a), accepted(b)]);
    await store.settle(lease, [
      accepted(c),
      { ...d, kind: "refused", changeIds: [d.id], action: "UPDATE", error: "X" },
    ]);

    const [first, second, third] = await customer.sql(
      `SELECT to_jsonb(l) - '{id,txid,created_at,updated_at,record_id,sfid,old,processed_at,processed_tx}'::text[] AS left,
         processed_at IS NOT NULL AND processed_tx IS NOT NULL AND updated_at = processed_at AS is_settled
       FROM salesforce._trigger_log l ORDER BY id`,
    );
    expect(first).toMatchObject({ left: { state: "SUCCESS", last_operation: "UPDATED" }, is_settled: true });
    expect([second, third]).toEqual([first, first]);
    expect((await rows()).map(({ _ab_lastop }) => _ab_lastop)).toEqual(["UPDATED", "UPDATED", "UPDATED", "FAILED"]);
    const counted = `SELECT success::int, failed::int, rows_synced::int, rows_failed::int
      FROM salesforce._bridge_totals JOIN salesforce._bridge_state USING (table_name)`;
    expect(await customer.sql(counted)).toEqual([{ success: 3, failed: 1, rows_synced: 3, rows_failed: 1 }]);
    const pushed =
      "SELECT sfids FROM salesforce._bridge_pushed WHERE answered_at = $1 ORDER BY cardinality(sfids) DESC";
    expect(await customer.sql(pushed, [orgTime(5)])).toEqual([
      { sfids: [sfidOf(1), sfidOf(2)] },
      { sfids: [sfidOf(3)] },
    ]);
  });

  test("give a change its sfid that was captured before its row had one", async () => {
    const first = await changedRows([1]);
    await first.store.release(first.lease, [first.sent[0]?.id ?? 0]);
    await customer.sql("UPDATE salesforce._trigger_log SET sfid = NULL");
    const sent = await first.store.claim(first.lease, 10);

    await first.store.settle(first.lease, sent.map(accepted));

    expect(await customer.sql("SELECT sfid, state FROM salesforce._trigger_log")).toEqual([
      { sfid: sfidOf(1), state: "SUCCESS" },
    ]);
  });
});

test("of two results for one row the later one is what it shows", async () => {
  const { store, lease, sent } = await changedRows([1]);
  const [a] = sent as [ClaimedChange];
  await customer.sql(EDIT);
  await store.release(lease, [a.id]);
  const [first, second] = (await store.claim(lease, 10)) as [ClaimedChange, ClaimedChange];

  await store.settle(lease, [
    { ...second, kind: "refused", changeIds: [second.id], action: "UPDATE", error: "X: no" },
    accepted(first),
  ]);

  expect(await rows()).toEqual([{ lastname: "Sklodowska", _ab_lastop: "FAILED", _ab_err: "X: no" }]);
});

describe("a change of a row whose earlier one is settled", () => {
  const edit = (number: number) => customer.sql(`${EDIT} AND sfid = $1`, [sfidOf(number)]);
  const keepsPending = async (number: number, store: CycleStore, lease: Lease) => {
    const expected = [1, 2].map((row) => (row === number ? "PENDING" : "UPDATED"));
    expect((await rows()).map(({ _ab_lastop }) => _ab_lastop)).toEqual(expected);
    expect((await log()).map(({ row_owed }) => row_owed)).toEqual([false, false, false]);
    expect(await store.claim(lease, 10)).toMatchObject([
      { sfid: sfidOf(number), values: { email: "again@example.com" } },
    ]);
  };

  test("keeps it PENDING when it was committed before, and is claimed next", async () => {
    const { store, lease, sent } = await changedRows([1, 2]);
    await edit(2);
    await store.settle(lease, sent.map(accepted));
    await keepsPending(2, store, lease);
  });

  test("keeps it PENDING when it is committed while another row's change is waited for", async () => {
    const { store, lease, sent } = await changedRows([1, 2]);
    const user = await customer.connect();
    await user.query("BEGIN");
    await user.query("SELECT FROM salesforce._trigger_log WHERE id = $1 FOR UPDATE", [sent[0]?.id]);

    const settling = store.settle(lease, sent.map(accepted));
    await untilSomebodyWaits(customer.application);
    await edit(2);
    await user.query("COMMIT");
    await settling;

    await keepsPending(2, store, lease);
  });

  test("keeps it PENDING when it is committed between the writes of two rows", async () => {
    const { store, lease, sent } = await changedRows([1, 2]);
    // The application's own trigger stays with the first row that is written until the other one has changed.
    await customer.sql("CREATE TABLE gate (is_open boolean)");
    await customer.sql(`CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM pg_advisory_xact_lock(NEW.id);
      LOOP EXIT WHEN EXISTS (SELECT FROM public.gate); END LOOP;
      RETURN NEW;
    END $$`);
    await customer.sql(`CREATE TRIGGER stay BEFORE UPDATE ON salesforce.contact
      FOR EACH ROW WHEN (NEW._ab_lastop = 'UPDATED') EXECUTE FUNCTION stay()`);

    const settling = store.settle(lease, sent.map(accepted));
    const writtenFirst = await rowWrittenFirst();
    await edit(3 - writtenFirst);
    await customer.sql("INSERT INTO gate VALUES (true)");
    await settling;

    await keepsPending(3 - writtenFirst, store, lease);
  });

  /** The row with which the trigger stays. */
  async function rowWrittenFirst(): Promise<number> {
    for (;;) {
      const [lock] = await customer.sql(
        "SELECT objid::int FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
      if (lock) return Number(lock["objid"]);
    }
  }
});

test("no row is written when a change is not this fence's any more", async () => {
  const { store, lease, sent } = await changedRows([1, 2]);
  await customer.sql("UPDATE salesforce._trigger_log SET fence = 99 WHERE id = $1", [sent[1]?.id]);

  await expect(store.settle(lease, sent.map(accepted))).rejects.toThrow(LeaseLost);

  expect((await log()).map(({ state }) => state)).toEqual(["PENDING", "PENDING"]);
  expect((await rows()).map(({ _ab_lastop }) => _ab_lastop)).toEqual(["PENDING", "PENDING"]);
});

test("a row with an older change that was requeued meanwhile stays PENDING", async () => {
  const cycle = await customer.cycle();
  const { store, lease } = cycle;
  await store.apply(lease, page([image(1, 1, { lastname: "L" })]));
  for (const [lastname, second] of [
    ["A", 5],
    ["B", 6],
  ] as const) {
    await customer.sql("UPDATE salesforce.contact SET lastname = $1", [lastname]);
    await pushAll(cycle, () => null, orgTime(second));
  }
  await customer.sql("UPDATE salesforce.contact SET lastname = 'C'");
  const sent = await store.claim(lease, 10);
  const [first] = await customer.sql("SELECT id::int, record_id::int FROM salesforce._trigger_log ORDER BY id");
  const late = { changeIds: [Number(first?.["id"])], recordId: Number(first?.["record_id"]), sfid: sfidOf(1) };

  expect(await store.requeueOverwritten(lease, [{ ...late, answeredAt: orgTime(9) }])).toEqual({
    again: 1,
    underWay: 1,
  });
  const before = await rows();
  await store.settle(lease, sent.map(acceptedAt(orgTime(10))));

  expect([before, await rows()].map(([row]) => row?.["_ab_lastop"])).toEqual(["PENDING", "PENDING"]);
  expect((await log()).map(({ state }) => state)).toEqual(["SUCCESS", "NEW", "SUCCESS"]);
});

test("the mapping's own row is waited for as long as it takes, and all rows are written at once then", async () => {
  const statements: string[] = [];
  const { store, lease, sent } = await changedRows([1, 2], async (statement) => void statements.push(statement));
  const other = await customer.connect();
  await other.query("BEGIN");
  await other.query("SELECT FROM salesforce._bridge_state FOR UPDATE");
  statements.length = 0;

  const settling = store.settle(lease, sent.map(accepted));
  // Longer than a held row would be waited for.
  const waits =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '50 ms'";
  while ((await customer.sql(waits)).length === 0);
  await other.query("COMMIT");
  await settling;

  expect(statements).toHaveLength(1);
  expect((await rows()).map(({ _ab_lastop }) => _ab_lastop)).toEqual(["UPDATED", "UPDATED"]);
});

test("a row that a transaction holds gets its result once that has ended, also when it got nothing else", async () => {
  const { store, lease, sent } = await changedRows([1, 2]);
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("SELECT FROM salesforce.contact WHERE sfid = $1 FOR UPDATE", [sfidOf(2)]);

  await store.settle(lease, sent.map(accepted));
  const whileHeld = [await rows(), await log()];
  await user.query("COMMIT");
  await store.claim(lease, 10);

  expect(whileHeld).toEqual([
    [
      { lastname: "Sklodowska", _ab_lastop: "UPDATED", _ab_err: null },
      { lastname: "Sklodowska", _ab_lastop: "PENDING", _ab_err: null },
    ],
    [
      { record_id: 1, action: "UPDATE", state: "SUCCESS", row_owed: false },
      { record_id: 2, action: "UPDATE", state: "SUCCESS", row_owed: true },
    ],
  ]);
  expect((await rows()).map(({ _ab_lastop }) => _ab_lastop)).toEqual(["UPDATED", "UPDATED"]);
  expect((await log()).map(({ row_owed }) => row_owed)).toEqual([false, false]);
});

longTest("rows that nothing holds are written at once, however many others are held", async () => {
  // More than are written later in one pass.
  const [all, held] = [5_600, 5_100];
  await customer.sql(
    "INSERT INTO salesforce.contact (lastname, sfid) SELECT 'L', 'X' || i FROM generate_series(1, $1::int) i",
    [all],
  );
  const { store, lease } = await customer.cycle();
  const sent = await store.claim(lease, all);
  await store.markSent(
    lease,
    "batch",
    sent.map(({ id }) => id),
  );
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("SELECT FROM salesforce.contact WHERE id <= $1 FOR UPDATE", [held]);

  for (const part of [sent.slice(0, all / 2), sent.slice(all / 2)]) {
    await store.settle(lease, part.map(created));
  }

  expect(
    await customer.sql("SELECT _ab_lastop, count(*)::int AS n FROM salesforce.contact GROUP BY 1 ORDER BY 1"),
  ).toEqual([
    { _ab_lastop: "INSERTED", n: all - held },
    { _ab_lastop: "PENDING", n: held },
  ]);
  expect(await customer.sql("SELECT count(*)::int AS n FROM salesforce._trigger_log WHERE row_owed")).toEqual([
    { n: held },
  ]);
});

test("a row that was given another key while its change was sent gets its result under that key, and no other row does", async () => {
  const { store, lease, sent } = await changedRows([1, 2]);
  const [a] = sent as [ClaimedChange];
  await customer.sql("UPDATE salesforce.contact SET id = 99 WHERE sfid = $1", [sfidOf(1)]);
  await customer.sql("INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'another')");

  await store.settle(lease, [accepted(a)]);

  expect(await customer.sql("SELECT id::int, lastname, _ab_lastop FROM salesforce.contact ORDER BY id")).toEqual([
    { id: 1, lastname: "another", _ab_lastop: "PENDING" },
    { id: 2, lastname: "Sklodowska", _ab_lastop: "PENDING" },
    { id: 99, lastname: "Sklodowska", _ab_lastop: "PENDING" },
  ]);
  // Being given another key is a change as well, which waits.
  expect(await store.claim(lease, 10)).toMatchObject([{ recordId: 99 }, { recordId: 1, action: "INSERT" }]);
});

test("new rows get their sfids with the change that is settled, and one whose sfid another row has gets the reason", async () => {
  const first = await customer.cycle();
  await first.store.apply(first.lease, page([image(7, 1, { lastname: "there" })]));
  await customer.sql("UPDATE salesforce.contact SET email = 'mine@example.com'");
  await customer.sql("UPDATE salesforce._trigger_log SET state = 'SUCCESS', processed_at = now()");
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('a'), ('b'), ('c')");
  await first.store.finish(first.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  const statements: string[] = [];
  const { store, lease } = await customer.cycle({ before: async (statement) => void statements.push(statement) });
  const [a, b, c] = (await store.claim(lease, 10)) as [ClaimedChange, ClaimedChange, ClaimedChange];
  const sentAs = (change: ClaimedChange, number: number) => accepted({ ...change, sfid: sfidOf(number) });

  await store.settle(lease, [sentAs(a, 1), sentAs(b, 7)]);
  const before = statements.length;
  await store.settle(lease, [sentAs(c, 3)]);

  expect(statements.length - before, "nothing was pending").toBe(1);
  expect(await customer.sql("SELECT lastname, sfid, _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id")).toEqual([
    { lastname: "there", sfid: sfidOf(7), _ab_lastop: "PENDING", _ab_err: null },
    { lastname: "a", sfid: sfidOf(1), _ab_lastop: "INSERTED", _ab_err: null },
    { lastname: "b", sfid: null, _ab_lastop: "FAILED", _ab_err: expect.stringContaining("DUPLICATE_ROW") },
    { lastname: "c", sfid: sfidOf(3), _ab_lastop: "INSERTED", _ab_err: null },
  ]);
});

test.each(firstInGate(1, [[true], [false]]))(
  "of two rows for one sfid the first gets it, locked: %s",
  async (isHeld) => {
    await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('1'), ('1.0')");
    const { store, lease } = await customer.cycle();
    const sent = await store.claim(lease, 10);
    const user = await customer.connect();
    await user.query("BEGIN");
    if (isHeld) await user.query("SELECT FROM salesforce.contact FOR UPDATE");

    await store.settle(
      lease,
      sent.map((change) => accepted({ ...change, sfid: sfidOf(1) })),
    );
    await user.query("COMMIT");
    await store.claim(lease, 10);

    expect(
      await customer.sql("SELECT lastname, sfid, _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id"),
    ).toEqual([
      { lastname: "1", sfid: sfidOf(1), _ab_lastop: "INSERTED", _ab_err: null },
      { lastname: "1.0", sfid: null, _ab_lastop: "FAILED", _ab_err: expect.stringContaining("DUPLICATE_ROW") },
    ]);
    expect((await log()).map(({ state, row_owed }) => [state, row_owed])).toEqual([
      ["SUCCESS", false],
      ["FAILED", false],
    ]);
  },
);

test("the row that has an sfid keeps it, and its accepted change, when a new row gets the same", async () => {
  const first = await customer.cycle();
  await first.store.apply(first.lease, page([image(1, 1, { lastname: "1.0" })]));
  await first.store.finish(first.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('1')");
  await customer.sql("UPDATE salesforce.contact SET email = 'mine@example.com' WHERE sfid IS NOT NULL");
  const { store, lease } = await customer.cycle();
  const sent = await store.claim(lease, 10);
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("SELECT FROM salesforce.contact FOR UPDATE");

  await store.settle(
    lease,
    sent.map((change) => accepted({ ...change, sfid: sfidOf(1) })),
  );
  await user.query("COMMIT");
  await store.claim(lease, 10);

  expect(await customer.sql("SELECT lastname, sfid, _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id")).toEqual([
    { lastname: "1.0", sfid: sfidOf(1), _ab_lastop: "UPDATED", _ab_err: null },
    { lastname: "1", sfid: null, _ab_lastop: "FAILED", _ab_err: expect.stringContaining("DUPLICATE_ROW") },
  ]);
});

test("a new row keeps the sfid of its insert when a later change of it needed no sending", async () => {
  const { store, lease } = await customer.cycle();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('a')");
  await customer.sql("UPDATE salesforce.contact SET lastname = 'b'");
  const [insert, update] = (await store.claim(lease, 10)) as [ClaimedChange, ClaimedChange];

  await store.settle(lease, [
    { kind: "settled", changeIds: [update.id], recordId: update.recordId },
    accepted({ ...insert, sfid: sfidOf(1) }),
  ]);

  expect(await customer.sql("SELECT sfid, _ab_lastop FROM salesforce.contact")).toEqual([
    { sfid: sfidOf(1), _ab_lastop: "SYNCED" },
  ]);
});
