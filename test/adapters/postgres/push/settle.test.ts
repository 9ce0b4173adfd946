import { describe, expect, test } from "vitest";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import { LeaseLost } from "../../../../lib/sync/ports/lease-ports.ts";
import { firstInGate } from "../../../support/run/whole-grid.ts";
import { accepted, acceptedAt, orgTime, pushAll, sfidOf, untilSomebodyWaits } from "../customer.ts";
import { type Cycle, END, known, refused, retriedIn } from "../cycles.ts";
import { aCustomerForEachTest, customer, insert, lastOps, log, rows, sql, states, transaction } from "../world.ts";

aCustomerForEachTest();

const owed = async () => (await log("row_owed")).map((change) => change["row_owed"]);
const edit = (number: number) =>
  sql("UPDATE salesforce.contact SET email = 'again@example.com' WHERE sfid = $1", [sfidOf(number)]);
const sentAs = (change: ClaimedChange, number: number) => accepted({ ...change, sfid: sfidOf(number) });

/** So many rows that have records, whose names the application has changed; a cycle; `before` gets its statements. */
async function changedRows(count: number, before: (statement: string) => Promise<void> = async () => undefined) {
  await known(count);
  await sql("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
  const { store, lease } = await customer.cycle({ before });
  const sent = await store.claim(lease, 10);
  const [a, b, c, d] = sent as [ClaimedChange, ClaimedChange, ClaimedChange, ClaimedChange];
  return { store, lease, sent, a, b, c, d };
}

test("rows get their results with the change that is settled, each its own, alone as among others", async () => {
  const { store, lease, a, b, c, d } = await changedRows(4);

  await store.settle(lease, [accepted(a), accepted(b)]);
  await store.settle(lease, [accepted(c), refused(d)]);
  await edit(1);
  await store.settle(
    lease,
    (await store.claim(lease, 10)).map((change) => retriedIn(60, change)),
  );

  expect(await rows("_ab_lastop, _ab_err")).toEqual([
    { _ab_lastop: "PENDING", _ab_err: null },
    { _ab_lastop: "UPDATED", _ab_err: null },
    { _ab_lastop: "UPDATED", _ab_err: null },
    { _ab_lastop: "FAILED", _ab_err: "X: no" },
  ]);
  expect(await states()).toEqual(["SUCCESS", "SUCCESS", "SUCCESS", "FAILED", "NEW"]);
  const [first, second, third] = await sql(
    `SELECT to_jsonb(l) - '{id,txid,created_at,updated_at,record_id,sfid,old,processed_at,processed_tx}'::text[] AS left,
       processed_at IS NOT NULL AND processed_tx IS NOT NULL AND updated_at = processed_at AS is_settled
     FROM salesforce._trigger_log l ORDER BY id`,
  );
  expect(first).toMatchObject({ left: { state: "SUCCESS", last_operation: "UPDATED" }, is_settled: true });
  expect([second, third]).toEqual([first, first]);
  const counted = `SELECT success::int, failed::int, rows_synced::int, rows_failed::int
    FROM salesforce._bridge_totals JOIN salesforce._bridge_state USING (table_name)`;
  expect(await sql(counted)).toEqual([{ success: 3, failed: 1, rows_synced: 3, rows_failed: 1 }]);
  const pushed = "SELECT sfids FROM salesforce._bridge_pushed WHERE answered_at = $1 ORDER BY cardinality(sfids) DESC";
  expect(await sql(pushed, [orgTime(5)])).toEqual([{ sfids: [sfidOf(1), sfidOf(2)] }, { sfids: [sfidOf(3)] }]);
  const whose = {
    mapping_id: "map_contact",
    sf_object: "Contact",
    table_name: "contact",
    record_id: 4,
    sfid: sfidOf(4),
  };
  expect(await store.outbox(10)).toMatchObject([
    { event: "record.failed", detail: { ...whose, trigger_log_id: d.id, action: "UPDATE", error: "X: no" } },
  ]);
  // What was said of each try stays to be seen, also of one that is repeated.
  const said = await sql("SELECT record_id::int, message FROM salesforce._bridge_history ORDER BY change_id");
  expect(said).toEqual([
    { record_id: 4, message: "X: no" },
    { record_id: 1, message: "X: later" },
  ]);
});

test("a change that was captured before its row had an sfid gets it", async () => {
  const { store, lease, a } = await changedRows(1);
  await store.release(lease, [a.id]);
  await sql("UPDATE salesforce._trigger_log SET sfid = NULL");

  await store.settle(lease, (await store.claim(lease, 10)).map(accepted));

  expect(await log("sfid, state")).toEqual([{ sfid: sfidOf(1), state: "SUCCESS" }]);
});

test("a refused delete is announced as a refused update is", async () => {
  await known(1);
  await sql("DELETE FROM salesforce.contact");
  const { store, lease } = await customer.cycle();
  const [gone] = (await store.claim(lease, 10)) as [ClaimedChange];

  await store.settle(lease, [refused(gone)]);

  expect(await store.outbox(10)).toMatchObject([
    { event: "record.failed", detail: { trigger_log_id: gone.id, action: "DELETE", sfid: sfidOf(1), error: "X: no" } },
  ]);
});

test("a row that refuses its result leaves Salesforce's reason in the log, and is asked to take its sfid ten seconds later", async () => {
  const { store, lease, a } = await changedRows(1);
  await insert("Noether");
  await sql(`CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'closed'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON salesforce.contact FOR EACH ROW
      WHEN (NEW._ab_lastop IN ('FAILED', 'INSERTED')) EXECUTE FUNCTION public.refuse()`);
  const [made] = (await store.claim(lease, 10)) as [ClaimedChange];

  await store.settle(lease, [refused(a), sentAs(made, 2)]);
  await store.claim(lease, 10);

  expect(await log("sf_message, row_owed, due_at")).toEqual([
    { sf_message: "X: no", row_owed: false, due_at: null },
    {
      sf_message: expect.stringMatching(/^ROW_REFUSES/),
      row_owed: true,
      due_at: new Date(customer.now.getTime() + 10_000),
    },
  ]);
});

test("of two results for one row the later one is what it shows", async () => {
  const { store, lease, a } = await changedRows(1);
  await edit(1);
  await store.release(lease, [a.id]);
  const [first, second] = (await store.claim(lease, 10)) as [ClaimedChange, ClaimedChange];

  await store.settle(lease, [refused(second), accepted(first)]);

  expect(await rows("_ab_lastop, _ab_err")).toEqual([{ _ab_lastop: "FAILED", _ab_err: "X: no" }]);
});

describe("a change of a row whose earlier one is settled", () => {
  const keepsPending = async (number: number, { store, lease }: Cycle) => {
    expect(await lastOps()).toEqual([1, 2].map((row) => (row === number ? "PENDING" : "UPDATED")));
    expect(await owed()).toEqual([false, false, false]);
    expect(await store.claim(lease, 10)).toMatchObject([
      { sfid: sfidOf(number), values: { email: "again@example.com" } },
    ]);
  };

  test("keeps it PENDING when it is committed while another row's change is waited for", async () => {
    const cycle = await changedRows(2);
    const user = await transaction(`SELECT FROM salesforce._trigger_log WHERE id = ${cycle.a.id} FOR UPDATE`);

    const settling = cycle.store.settle(cycle.lease, cycle.sent.map(accepted));
    await untilSomebodyWaits(customer.application);
    await edit(2);
    await user.query("COMMIT");
    await settling;

    await keepsPending(2, cycle);
  });

  test("keeps it PENDING when it is committed between the writes of two rows", async () => {
    const cycle = await changedRows(2);
    // The application's own trigger stays with the first row that is written until the other one has changed.
    await sql(`CREATE TABLE gate (is_open boolean);
      CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_advisory_xact_lock(NEW.id);
        LOOP EXIT WHEN EXISTS (SELECT FROM public.gate); END LOOP;
        RETURN NEW;
      END $$;
      CREATE TRIGGER stay BEFORE UPDATE ON salesforce.contact
        FOR EACH ROW WHEN (NEW._ab_lastop = 'UPDATED') EXECUTE FUNCTION stay()`);

    const settling = cycle.store.settle(cycle.lease, cycle.sent.map(accepted));
    const writtenFirst = await rowWrittenFirst();
    await edit(3 - writtenFirst);
    await sql("INSERT INTO gate VALUES (true)");
    await settling;

    await keepsPending(3 - writtenFirst, cycle);
  });

  /** The row with which the trigger stays. */
  async function rowWrittenFirst(): Promise<number> {
    for (;;) {
      const [lock] = await sql(
        "SELECT objid::int FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
      if (lock) return Number(lock["objid"]);
    }
  }
});

test("no row is written when a change is not this fence's any more", async () => {
  const { store, lease, sent, b } = await changedRows(2);
  await sql("UPDATE salesforce._trigger_log SET fence = 99 WHERE id = $1", [b.id]);

  await expect(store.settle(lease, sent.map(accepted))).rejects.toThrow(LeaseLost);

  expect([await states(), await lastOps()]).toEqual(Array(2).fill(["PENDING", "PENDING"]));
});

test("a row with an older change that was requeued meanwhile stays PENDING", async () => {
  await known(1);
  const cycle = await customer.cycle();
  const { store, lease } = cycle;
  for (const second of [5, 6, 7]) {
    await sql("UPDATE salesforce.contact SET lastname = $1", [second]);
    await pushAll(cycle, () => null, orgTime(second));
  }
  await sql("UPDATE salesforce.contact SET lastname = 'C'");
  const sent = await store.claim(lease, 10);
  const late = { changeIds: [1, 2], recordId: 1, sfid: sfidOf(1), answeredAt: orgTime(9) };

  expect(await store.requeueOverwritten(lease, [late])).toEqual({ again: 1, underWay: 1 });
  const before = await lastOps();
  await store.settle(lease, sent.map(acceptedAt(orgTime(10))));

  expect([before, await lastOps()]).toEqual([["PENDING"], ["PENDING"]]);
  expect(await states()).toEqual(["SUCCESS", "SUCCESS", "NEW", "SUCCESS"]);
  // Of two changes that were saved late together the later one is what Salesforce shows.
  expect(await sql("SELECT old FROM salesforce._trigger_log WHERE id = 3")).toEqual([{ old: { lastname: "6" } }]);
});

test("the mapping's own row is waited for as long as it takes, and all rows are written at once then", async () => {
  const statements: string[] = [];
  const { store, lease, sent } = await changedRows(2, async (statement) => void statements.push(statement));
  const other = await transaction("SELECT FROM salesforce._bridge_state FOR UPDATE");
  statements.length = 0;

  const settling = store.settle(lease, sent.map(accepted));
  // Longer than a held row would be waited for.
  const waits =
    "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query_start < clock_timestamp() - interval '50 ms'";
  while ((await sql(waits)).length === 0);
  await other.query("COMMIT");
  await settling;

  expect(statements).toHaveLength(1);
  expect(await lastOps()).toEqual(["UPDATED", "UPDATED"]);
});

test.each(["the next claim", "the next cycle"])(
  "a row that a transaction holds gets its result from %s once that has ended, also when nothing else waits",
  async (by) => {
    const { store, lease, a, b } = await changedRows(2);
    const user = await transaction(`SELECT FROM salesforce.contact WHERE sfid = '${sfidOf(2)}' FOR UPDATE`);

    await store.settle(lease, [accepted(a), refused(b)]);
    const whileHeld = [await lastOps(), await states(), await owed()];
    await user.query("COMMIT");
    if (by === "the next claim") await store.claim(lease, 10);
    else {
      await store.finish(lease, END);
      const next = await customer.cycle();
      expect(next.begun.waiting).toMatchObject({ changes: false, unfinished: true });
      await next.store.recover(next.lease);
    }

    expect(whileHeld).toEqual([
      ["UPDATED", "PENDING"],
      ["SUCCESS", "FAILED"],
      [false, true],
    ]);
    expect(await rows("_ab_lastop, _ab_err")).toEqual([
      { _ab_lastop: "UPDATED", _ab_err: null },
      { _ab_lastop: "FAILED", _ab_err: "X: no" },
    ]);
    expect(await owed()).toEqual([false, false]);
  },
);

test("a row that was given another key while its change was sent gets its result under that key, and no other row does", async () => {
  const { store, lease, a } = await changedRows(2);
  await sql("UPDATE salesforce.contact SET id = 99 WHERE sfid = $1", [sfidOf(1)]);
  await sql("INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'another')");

  await store.settle(lease, [accepted(a)]);

  expect(await rows("id::int, lastname, _ab_lastop")).toEqual([
    { id: 1, lastname: "another", _ab_lastop: "PENDING" },
    { id: 2, lastname: "Sklodowska", _ab_lastop: "PENDING" },
    { id: 99, lastname: "Sklodowska", _ab_lastop: "PENDING" },
  ]);
  // Being given another key is a change as well, which waits.
  const next = await store.claim(lease, 10);
  expect(next).toMatchObject([{ recordId: 99 }, { recordId: 1, action: "INSERT" }]);
  await sql("DELETE FROM salesforce.contact WHERE id = 1");
  await sql("INSERT INTO salesforce.contact (id, lastname) VALUES (1, 'a third one')");
  await store.settle(lease, [sentAs(next[1] as ClaimedChange, 9)]);
  const third = "SELECT t.sfid, l.sfid AS sent_as FROM salesforce.contact t, salesforce._trigger_log l";
  expect(await sql(`${third} WHERE t.id = 1 ORDER BY l.id DESC LIMIT 1`)).toEqual([{ sfid: null, sent_as: null }]);
});

test.each(firstInGate(1, [true, false]))(
  "the row that has an sfid keeps it, and of new rows for one the first gets it, the others the reason; locked: %s",
  async (isHeld) => {
    await insert("0");
    await known(1);
    for (const lastname of ["1", "2", "2.0"]) await insert(lastname);
    await sql("UPDATE salesforce.contact SET email = 'mine@example.com' WHERE sfid IS NOT NULL");
    const { store, lease } = await customer.cycle();
    const sent = await store.claim(lease, 10);
    const user = await transaction(...(isHeld ? ["SELECT FROM salesforce.contact FOR UPDATE"] : []));

    await store.settle(
      lease,
      sent.map((change) => sentAs(change, change.recordId < 4 ? 1 : 2)),
    );
    await user.query("COMMIT");
    await store.claim(lease, 10);

    const duplicate = { sfid: null, _ab_lastop: "FAILED", _ab_err: expect.stringContaining("DUPLICATE_ROW") };
    expect(await rows("lastname, sfid, _ab_lastop, _ab_err")).toEqual([
      { lastname: "0", ...duplicate },
      { lastname: "L1", sfid: sfidOf(1), _ab_lastop: "UPDATED", _ab_err: null },
      { lastname: "1", ...duplicate },
      { lastname: "2", sfid: sfidOf(2), _ab_lastop: "INSERTED", _ab_err: null },
      { lastname: "2.0", ...duplicate },
    ]);
    expect(await states()).toEqual(["FAILED", "FAILED", "SUCCESS", "FAILED", "SUCCESS"]);
    expect(await owed()).toEqual(Array(5).fill(false));
    expect(await sql("SELECT success, failed FROM salesforce._bridge_totals")).toEqual([{ success: "2", failed: "3" }]);
  },
);

test("a new row keeps the sfid of its insert when a later change of it needed no sending", async () => {
  const { store, lease } = await customer.cycle();
  await insert("a");
  await sql("UPDATE salesforce.contact SET lastname = 'b'");
  const [first, update] = (await store.claim(lease, 10)) as [ClaimedChange, ClaimedChange];

  await store.settle(lease, [{ kind: "settled", changeIds: [update.id], recordId: update.recordId }, sentAs(first, 1)]);

  expect(await rows("sfid, _ab_lastop")).toEqual([{ sfid: sfidOf(1), _ab_lastop: "SYNCED" }]);
});
