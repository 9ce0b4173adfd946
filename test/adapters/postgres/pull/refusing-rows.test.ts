import { expect, test } from "vitest";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import { firstInGate } from "../../../support/run/whole-grid.ts";
import { accepted, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";
import { claimAndSend, cycleOn, END, idsOf, known, refused } from "../cycles.ts";
import {
  aCustomerForEachTest,
  customer,
  insertMany,
  lastOps,
  laterBy,
  log,
  retryFailed,
  rows,
  sql,
  states,
  transaction,
} from "../world.ts";

aCustomerForEachTest();

/** A trigger of the customer's that refuses the results of some rows. */
const refuse = (which: string, timing = "BEFORE UPDATE", state = "P0001") =>
  sql(`
    CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'closed: %', NEW.lastname USING ERRCODE = '${state}'; END $$;
    CREATE ${timing.startsWith("CONSTRAINT") ? timing : `TRIGGER refuse ${timing}`} ON salesforce.contact
      ${timing.startsWith("CONSTRAINT") ? "DEFERRABLE INITIALLY DEFERRED" : ""}
      FOR EACH ROW WHEN ((NEW._ab_lastop <> 'PENDING' OR NEW.sfid IS DISTINCT FROM OLD.sfid) AND ${which}) EXECUTE FUNCTION public.refuse()`);
const refuseNoMore = () => sql("DROP TRIGGER refuse ON salesforce.contact");

/** A table that is closed: nothing of its rows may be changed. */
const close = () =>
  sql(`
    CREATE FUNCTION public.close() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'closed'; END $$;
    CREATE TRIGGER close BEFORE UPDATE ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.close()`);

/** A cycle over rows that both sides know and the application has changed. */
async function changed(count: number) {
  await known(count);
  await sql("UPDATE salesforce.contact SET email = 'new@example.com'");
  return customer.cycle();
}

/** New rows that were saved, of which these refuse to take their sfids. */
async function refusedInserts(count: number, which = "true") {
  const cycle = await customer.cycle();
  await insertMany(count);
  await refuse(which);
  await pushAll(cycle, ({ recordId }) => sfidOf(recordId), orgTime(5));
  return cycle;
}

test.each(
  firstInGate(4, [
    ["at once", "BEFORE UPDATE", "P0001"],
    ["when the transaction ends", "CONSTRAINT TRIGGER refuse AFTER UPDATE", "P0001"],
    ["with a SQLSTATE of its own", "BEFORE UPDATE", "BR001"],
    ["with a class that is a fault elsewhere", "BEFORE UPDATE", "42501"],
    ["as it divides by zero", "BEFORE UPDATE", "22012"],
  ] as const),
)(
  "a row that refuses its result %s blocks no other: it is settled, and so are all others",
  async (_, timing, state) => {
    const { store, lease } = await changed(3);
    await refuse("NEW.lastname = 'L2'", timing, state);

    const sent = await pushAll({ store, lease }, () => null, orgTime(5));
    const { refusedWriteBacks } = await store.finish(lease, END);

    expect(sent).toHaveLength(3);
    expect(await lastOps()).toEqual(["UPDATED", "PENDING", "UPDATED"]);
    const settled = { state: "SUCCESS", row_owed: false, sf_message: null, due_at: null };
    const words = `ROW_REFUSES: its result was not written to it (SQLSTATE ${state}): closed: L2`;
    expect(await log("state, row_owed, sf_message, due_at")).toEqual([
      settled,
      { ...settled, sf_message: words },
      settled,
    ]);
    expect(refusedWriteBacks).toEqual({ rows: 1, sqlState: state });
    expect((await cycleOn(store)).refusedWriteBacks.rows).toBe(0);

    await sql("UPDATE salesforce.contact SET email = 'newer@example.com' WHERE lastname = 'L2'");
    const next = await customer.cycle();
    expect(next.begun.waiting).toMatchObject({ changes: true, unfinished: false });
    expect(await next.store.claim(next.lease, 10)).toMatchObject([{ action: "UPDATE", sfid: sfidOf(2) }]);
  },
);

test("a new row that refuses its sfid waits until it takes it, and makes no second record", async () => {
  const { store, lease } = await refusedInserts(3, "NEW.lastname = 'L2'");
  await store.finish(lease, END);
  const second = async () => (await log("state, row_owed, due_at"))[1];

  const due = new Date(customer.now.getTime() + 10_000);
  expect(await lastOps()).toEqual(["INSERTED", "PENDING", "INSERTED"]);
  expect(await second()).toEqual({ state: "SUCCESS", row_owed: true, due_at: due });

  // Its next change waits, and no cycle looks after the row before it is due.
  await sql("UPDATE salesforce.contact SET email = 'new@example.com' WHERE lastname = 'L2'");
  const early = await customer.cycle();
  expect(early.begun.waiting.unfinished).toBe(false);
  expect(await early.store.claim(early.lease, 10)).toEqual([]);
  await early.store.finish(early.lease, END);

  // It refuses again, and is asked again later.
  laterBy(10);
  const again = await customer.cycle();
  expect(again.begun.waiting.unfinished).toBe(true);
  await again.store.recover(again.lease);
  expect(await again.store.finish(again.lease, END)).toMatchObject({ refusedWriteBacks: { rows: 1 } });
  expect(await second()).toMatchObject({ row_owed: true, due_at: new Date(due.getTime() + 10_000) });

  await refuseNoMore();
  laterBy(10);
  const last = await customer.cycle();
  await last.store.recover(last.lease);
  expect((await rows("sfid, _ab_lastop"))[1]).toEqual({ sfid: sfidOf(2), _ab_lastop: "PENDING" });
  expect(await second()).toMatchObject({ row_owed: false });
  expect(await last.store.claim(last.lease, 10)).toMatchObject([{ action: "UPDATE", sfid: sfidOf(2) }]);
});

test("the record of a row that refuses its sfid gets no second row; it is read again, and linked once the row has its sfid", async () => {
  const { store, lease } = await refusedInserts(1);

  const applied = await store.apply(lease, page([image(1, 9, { lastname: "theirs" }), image(2, 9, {})]));
  await store.finish(lease, END);

  expect(applied).toMatchObject({ inserted: 1 });
  expect(await rows("lastname, sfid")).toEqual([
    { lastname: "L1", sfid: null },
    { lastname: null, sfid: sfidOf(2) },
  ]);
  laterBy(10);
  const left = "SELECT sfid, retry_at FROM salesforce._bridge_inbound_errors";
  expect(await sql(left)).toEqual([{ sfid: sfidOf(1), retry_at: customer.now }]);

  await refuseNoMore();
  const next = await customer.cycle();
  expect(next.begun.rereads).toEqual([sfidOf(1)]);
  await next.store.recover(next.lease);
  // It gets what Salesforce said, and nothing of what it said itself.
  const withResult = { sfid: sfidOf(1), _ab_lastop: "INSERTED", _ab_err: null };
  expect((await rows("sfid, _ab_lastop, _ab_err"))[0]).toEqual(withResult);
  expect(await log("state, row_owed, sf_message, due_at")).toEqual([
    { state: "SUCCESS", row_owed: false, sf_message: null, due_at: null },
  ]);
  await next.store.apply(next.lease, page([image(1, 9, { lastname: "theirs" })]));
  expect((await rows("lastname"))[0]).toEqual({ lastname: "theirs" });
  expect(await sql(left)).toEqual([]);
});

test("a row that refused its sfid and is deleted takes its record along at once", async () => {
  const { store, lease } = await refusedInserts(1);

  await sql("DELETE FROM salesforce.contact");

  expect(await store.claim(lease, 10)).toMatchObject([{ action: "DELETE", sfid: sfidOf(1) }]);
});

test("a record whose row refuses to take it, with whatever SQLSTATE, is kept apart; a trigger that is broken stops the page", async () => {
  const { store, lease } = await customer.cycle();
  const raising = (body: string) =>
    sql(
      `CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NEW; END $$`,
    );
  await raising("IF NEW.lastname = 'L2' THEN RAISE EXCEPTION 'closed' USING ERRCODE = 'BR001'; END IF");
  await sql("CREATE TRIGGER refuse BEFORE INSERT ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.refuse()");
  const images = [1, 2, 3].map((n) => image(n, 1, { lastname: `L${n}` }));

  expect(await store.apply(lease, page(images))).toMatchObject({ inserted: 2, rejected: 1 });

  await raising("PERFORM public.gone()");
  await expect(store.apply(lease, page([image(4, 2, { lastname: "L4" })]))).rejects.toMatchObject({ code: "42883" });
  expect(await rows("lastname")).toEqual([{ lastname: "L1" }, { lastname: "L3" }]);
  expect(await sql("SELECT sfid FROM salesforce._bridge_inbound_errors")).toEqual([{ sfid: sfidOf(2) }]);
});

test("rows that refuse among many are looked for a few at a time, and those of a closed table are not searched for any more", async () => {
  const { store, lease } = await changed(100);
  await refuse("NEW.lastname LIKE '%7'");
  const waiting = async () => (await log("row_owed")).filter((change) => change["row_owed"]).length;

  await pushAll({ store, lease }, () => null, orgTime(5));
  for (let claims = 0; claims < 5 && (await waiting()) > 0; claims += 1) await store.claim(lease, 10);

  expect(await waiting()).toBe(0);
  expect((await lastOps()).filter((lastOp) => lastOp === "PENDING")).toHaveLength(10);
  expect((await store.finish(lease, END)).refusedWriteBacks).toEqual({ rows: 10, sqlState: "P0001" });

  await sql("UPDATE salesforce.contact SET email = 'newer@example.com'");
  await close();
  await pushAll(await customer.cycle(), () => null, orgTime(9));
  expect(await waiting()).toBe(0);
  expect(new Set(await states())).toEqual(new Set(["SUCCESS"]));
});

test("the refusal of one row by a constraint does not count for the rows written together with it", async () => {
  const cycle = await changed(6);
  await refuse("NEW.lastname = 'L1'", "CONSTRAINT TRIGGER refuse AFTER UPDATE");
  const sent = await claimAndSend(cycle);
  // These rows are written by another session meanwhile, and so wait for their result.
  await sql("UPDATE salesforce.contact SET systemmodstamp = systemmodstamp WHERE lastname > 'L3'");
  await cycle.store.settle(cycle.lease, sent.map(accepted));

  expect(await lastOps()).toEqual(["PENDING", ...Array(5).fill("UPDATED")]);
  expect((await cycle.store.finish(cycle.lease, END)).refusedWriteBacks.rows).toBe(1);
});

test("rows that lack their result for long keep nothing else from being deleted", async () => {
  const { store, lease } = await customer.cycle();
  await sql(`INSERT INTO salesforce._trigger_log
      (action, table_name, record_id, state, last_operation, processed_at, created_at, row_owed, due_at)
    SELECT 'INSERT', 'contact', 1000 + n, 'SUCCESS', 'INSERTED', '2026-01-01', '2026-01-01', n <= 500, '2027-01-01'
    FROM generate_series(1, 700) n`);

  await store.finish(lease, END);

  const left = "SELECT row_owed, count(*)::int FROM salesforce._trigger_log WHERE record_id > 1000 GROUP BY 1";
  expect(await sql(left)).toEqual([{ row_owed: true, count: 500 }]);
});

test.each([
  ["whatever its rows hold", ["FAILED", "FAILED"]],
  ["and waits for no transaction that holds one of them", ["FAILED", "PENDING"]],
])("what failed is sent again when an operator says so, %s", async (how, after) => {
  const { store, lease } = await changed(2);
  const failed = (await store.claim(lease, 10)) as [ClaimedChange, ClaimedChange];
  await store.settle(
    lease,
    failed.map((change) => refused(change)),
  );
  if (how === "whatever its rows hold") await close();
  else await transaction("UPDATE salesforce.contact SET lastname = 'mine' WHERE lastname = 'L1'");

  expect(await retryFailed(idsOf(failed))).toBe(2);

  expect(await states()).toEqual(["NEW", "NEW"]);
  expect(await lastOps()).toEqual(after);
});
