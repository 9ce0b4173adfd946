import { afterEach, beforeEach, expect, test } from "vitest";
import { retryFailed } from "../../../../lib/adapters/postgres/operations/operations.ts";
import { keepSessions } from "../../../../lib/adapters/postgres/session/request-session.ts";
import { firstInGate, longTest } from "../../../support/run/whole-grid.ts";
import { accepted, type Customer, createCustomer, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const END = { marks: {}, pulledAt: null, apiCalls: {}, error: null };

/** A trigger of the customer's that refuses the results of some rows. */
const refuse = (which: string, timing = "BEFORE UPDATE") =>
  customer.sql(`
    CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'closed: %', NEW.lastname; END $$;
    CREATE ${timing.startsWith("CONSTRAINT") ? timing : `TRIGGER refuse ${timing}`} ON salesforce.contact
      ${timing.startsWith("CONSTRAINT") ? "DEFERRABLE INITIALLY DEFERRED" : ""}
      FOR EACH ROW WHEN ((NEW._ab_lastop <> 'PENDING' OR NEW.sfid IS DISTINCT FROM OLD.sfid) AND ${which}) EXECUTE FUNCTION public.refuse()`);

const rows = async () =>
  (await customer.sql("SELECT lastname, sfid, _ab_lastop FROM salesforce.contact ORDER BY id")).map((row) =>
    Object.values(row),
  );
const log = () => customer.sql("SELECT state, row_owed, sf_message, due_at FROM salesforce._trigger_log ORDER BY id");

/** A cycle over rows that both sides know and the application has changed. */
async function changed(count: number) {
  const first = await customer.cycle();
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  await first.store.apply(first.lease, page(numbers.map((n) => image(n, 1, { lastname: `L${n}` }))));
  await first.store.finish(first.lease, END);
  await customer.sql("UPDATE salesforce.contact SET email = 'new@example.com'");
  return customer.cycle();
}

test.each([
  ["at once", "BEFORE UPDATE"],
  ["when the transaction ends", "CONSTRAINT TRIGGER refuse AFTER UPDATE"],
])("a row that refuses its result %s blocks no other: it is settled, and so are all others", async (_, timing) => {
  const { store, lease } = await changed(5);
  await refuse("NEW.lastname = 'L3'", timing);

  const sent = await pushAll({ store, lease }, () => null, orgTime(5));
  const { refusedWriteBacks } = await store.finish(lease, END);

  expect(sent).toHaveLength(5);
  expect((await rows()).map(([name, , lastOp]) => [name, lastOp])).toEqual([
    ["L1", "UPDATED"],
    ["L2", "UPDATED"],
    ["L3", "PENDING"],
    ["L4", "UPDATED"],
    ["L5", "UPDATED"],
  ]);
  const settled = { state: "SUCCESS", row_owed: false, sf_message: null, due_at: null };
  const words = "ROW_REFUSES: its result was not written to it (SQLSTATE P0001): closed: L3";
  expect(await log()).toEqual([settled, settled, { ...settled, sf_message: words }, settled, settled]);
  expect(refusedWriteBacks).toEqual({ rows: 1, sqlState: "P0001" });

  const asked = { mappingId: "map_contact", work: "cycle", configVersion: 1, owner: "a test", slot: null } as const;
  const other = await store.begin({ ...asked, leaseSeconds: 30 });
  if (!other.held) throw new Error(other.why);
  expect((await store.finish(other.lease, END)).refusedWriteBacks.rows).toBe(0);

  await customer.sql("UPDATE salesforce.contact SET email = 'newer@example.com' WHERE lastname = 'L3'");
  const next = await customer.cycle();
  expect(next.begun.waiting).toMatchObject({ changes: true, unfinished: false });
  expect(await next.store.claim(next.lease, 10)).toMatchObject([{ action: "UPDATE", sfid: sfidOf(3) }]);
});

test("a new row that refuses its sfid waits until it takes it, and makes no second record", async () => {
  const { store, lease } = await customer.cycle();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('L1'), ('L2'), ('L3')");
  await refuse("NEW.lastname = 'L2'");
  await pushAll({ store, lease }, ({ recordId }) => sfidOf(recordId), orgTime(5));
  await store.finish(lease, END);

  const due = new Date(customer.now.getTime() + 10_000);
  expect((await rows()).map(([, , lastOp]) => lastOp)).toEqual(["INSERTED", "PENDING", "INSERTED"]);
  expect((await log())[1]).toMatchObject({ state: "SUCCESS", row_owed: true, due_at: due });

  // Its next change waits, and no cycle looks after the row before it is due.
  await customer.sql("UPDATE salesforce.contact SET email = 'new@example.com' WHERE lastname = 'L2'");
  const early = await customer.cycle();
  expect(early.begun.waiting.unfinished).toBe(false);
  expect(await early.store.claim(early.lease, 10)).toEqual([]);
  await early.store.finish(early.lease, END);

  // It refuses again, and is asked again later.
  customer.now = due;
  const again = await customer.cycle();
  expect(again.begun.waiting.unfinished).toBe(true);
  await again.store.recover(again.lease);
  expect(await again.store.finish(again.lease, END)).toMatchObject({ refusedWriteBacks: { rows: 1 } });
  expect((await log())[1]).toMatchObject({ row_owed: true, due_at: new Date(due.getTime() + 10_000) });

  await customer.sql("DROP TRIGGER refuse ON salesforce.contact");
  customer.now = new Date(due.getTime() + 10_000);
  const last = await customer.cycle();
  await last.store.recover(last.lease);
  expect((await rows())[1]).toEqual(["L2", sfidOf(2), "PENDING"]);
  expect((await log())[1]).toMatchObject({ row_owed: false });
  expect(await last.store.claim(last.lease, 10)).toMatchObject([{ action: "UPDATE", sfid: sfidOf(2) }]);
});

test("a new row that takes its sfid later gets what Salesforce said, and nothing of what it said itself", async () => {
  const { store, lease } = await refusedInsert();
  await store.finish(lease, END);
  await customer.sql("DROP TRIGGER refuse ON salesforce.contact");
  customer.now = new Date(customer.now.getTime() + 10_000);

  const next = await customer.cycle();
  await next.store.recover(next.lease);

  const lastOp = "SELECT sfid, _ab_lastop, _ab_err FROM salesforce.contact";
  expect(await customer.sql(lastOp)).toEqual([{ sfid: sfidOf(1), _ab_lastop: "INSERTED", _ab_err: null }]);
  expect(await log()).toEqual([{ state: "SUCCESS", row_owed: false, sf_message: null, due_at: null }]);
});

test("the record of a row that refuses its sfid gets no second row; it is read again, and linked once the row has its sfid", async () => {
  const { store, lease } = await refusedInsert();

  const applied = await store.apply(lease, page([image(1, 9, { lastname: "theirs" }), image(2, 9, {})]));
  await store.finish(lease, END);

  expect(applied).toMatchObject({ inserted: 1 });
  expect((await rows()).map(([name, sfid]) => [name, sfid])).toEqual([
    ["L1", null],
    [null, sfidOf(2)],
  ]);
  const due = new Date(customer.now.getTime() + 10_000);
  const kept = "SELECT sfid, retry_at FROM salesforce._bridge_inbound_errors";
  expect(await customer.sql(kept)).toEqual([{ sfid: sfidOf(1), retry_at: due }]);

  await customer.sql("DROP TRIGGER refuse ON salesforce.contact");
  customer.now = due;
  const next = await customer.cycle();
  expect(next.begun.rereads).toEqual([sfidOf(1)]);
  await next.store.recover(next.lease);
  await next.store.apply(next.lease, page([image(1, 9, { lastname: "theirs" })]));
  expect((await rows()).map(([name, sfid]) => [name, sfid])).toEqual([
    ["theirs", sfidOf(1)],
    [null, sfidOf(2)],
  ]);
  expect(await customer.sql(kept)).toEqual([]);
});

test("a row that refused its sfid and is deleted takes its record along at once", async () => {
  const { store, lease } = await refusedInsert();

  await customer.sql("DELETE FROM salesforce.contact");

  expect(await store.claim(lease, 10)).toMatchObject([{ action: "DELETE", sfid: sfidOf(1) }]);
});

test.each(firstInGate(2, ["BR001", "42501", "22012"]))(
  "a trigger that raises %s refuses one row, too, and not the others",
  async (state) => {
    const { store, lease } = await changed(3);
    await customer.sql(`
    CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'closed' USING ERRCODE = '${state}'; END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON salesforce.contact FOR EACH ROW
      WHEN (NEW._ab_lastop <> 'PENDING' AND NEW.lastname = 'L2') EXECUTE FUNCTION public.refuse()`);

    await pushAll({ store, lease }, () => null, orgTime(5));

    expect((await rows()).map(([, , lastOp]) => lastOp)).toEqual(["UPDATED", "PENDING", "UPDATED"]);
    expect((await log()).map(({ state }) => state)).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
  },
);

test("a record whose row refuses to take it, with whatever SQLSTATE, is kept apart; a trigger that is broken stops the page", async () => {
  const { store, lease } = await customer.cycle();
  const raising = (body: string) =>
    customer.sql(
      `CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NEW; END $$`,
    );
  await raising("IF NEW.lastname = 'L2' THEN RAISE EXCEPTION 'closed' USING ERRCODE = 'BR001'; END IF");
  await customer.sql(
    "CREATE TRIGGER refuse BEFORE INSERT ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.refuse()",
  );
  const images = (seconds: number) => [1, 2, 3].map((n) => image(n, seconds, { lastname: `L${n}` }));

  expect(await store.apply(lease, page(images(1)))).toMatchObject({ inserted: 2, rejected: 1 });

  await raising("PERFORM public.gone()");
  await expect(store.apply(lease, page([image(4, 2, { lastname: "L4" })]))).rejects.toMatchObject({ code: "42883" });
  expect(await customer.sql("SELECT lastname FROM salesforce.contact ORDER BY id")).toEqual([
    { lastname: "L1" },
    { lastname: "L3" },
  ]);
  expect(await customer.sql("SELECT sfid FROM salesforce._bridge_inbound_errors")).toEqual([{ sfid: sfidOf(2) }]);
});

longTest(
  "rows that refuse among many are looked for a few at a time, and those of a closed table are not searched for any more",
  async () => {
    const { store, lease } = await changed(250);
    await refuse("NEW.lastname LIKE 'L2%'"); // 62 of them
    const waiting = async () =>
      Number(
        (await customer.sql("SELECT count(*) AS pending FROM salesforce._trigger_log WHERE row_owed"))[0]?.["pending"],
      );

    await pushAll({ store, lease }, () => null, orgTime(5));
    const left = [await waiting()];
    while ((left.at(-1) ?? 0) > 0 && left.length < 10) {
      await store.claim(lease, 10);
      left.push(await waiting());
    }

    expect(left.length).toBeLessThan(6);
    expect(left.at(-1)).toBe(0);
    expect((await log()).filter(({ sf_message }) => sf_message !== null)).toHaveLength(62);
    expect((await rows()).filter(([, , lastOp]) => lastOp === "PENDING")).toHaveLength(62);
    const { refusedWriteBacks } = await store.finish(lease, END);
    expect(refusedWriteBacks).toEqual({ rows: 62, sqlState: "P0001" });

    await close();
    await customer.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER close");
    await customer.sql("UPDATE salesforce.contact SET email = 'newer@example.com'");
    await customer.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER close");
    const closed = await customer.cycle();
    await pushAll(closed, () => null, orgTime(9));
    expect(await waiting()).toBe(0);
    expect(new Set((await log()).map(({ state }) => state))).toEqual(new Set(["SUCCESS"]));
  },
);

test("the refusal of one row by a constraint does not count for the rows written together with it", async () => {
  const { store, lease } = await changed(6);
  await refuse("NEW.lastname = 'L1'", "CONSTRAINT TRIGGER refuse AFTER UPDATE");
  const [first, ...others] = await store.claim(lease, 10);
  if (!first) throw new Error("nothing waits");
  // These rows are written by another session meanwhile, and so wait for their result.
  await customer.sql("UPDATE salesforce.contact SET systemmodstamp = systemmodstamp WHERE lastname > 'L3'");
  await store.markSent(
    lease,
    "batch",
    [first, ...others].map(({ id }) => id),
  );
  await store.settle(lease, [first, ...others].map(accepted));

  expect((await rows()).map(([, , lastOp]) => lastOp)).toEqual(["PENDING", ...Array(5).fill("UPDATED")]);
  expect((await store.finish(lease, END)).refusedWriteBacks.rows).toBe(1);
});

test("rows that lack their result for long keep nothing else from being deleted", async () => {
  const { store, lease } = await customer.cycle();
  await customer.sql(`INSERT INTO salesforce._trigger_log
      (action, table_name, record_id, state, last_operation, processed_at, created_at, row_owed, due_at)
    SELECT 'INSERT', 'contact', 1000 + n, 'SUCCESS', 'INSERTED', '2026-01-01', '2026-01-01', n <= 500, '2027-01-01'
    FROM generate_series(1, 700) n`);

  await store.finish(lease, END);

  const left = "SELECT row_owed, count(*)::int FROM salesforce._trigger_log WHERE record_id > 1000 GROUP BY 1";
  expect(await customer.sql(left)).toEqual([{ row_owed: true, count: 500 }]);
});

/** A new row that was saved and refuses to take its sfid. */
async function refusedInsert() {
  const cycle = await customer.cycle();
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('L1')");
  await refuse("true");
  await pushAll(cycle, () => sfidOf(1), orgTime(5));
  return cycle;
}

/** A table that is closed: nothing of its rows may be changed. */
const close = () =>
  customer.sql(`
    CREATE FUNCTION public.close() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'closed'; END $$;
    CREATE TRIGGER close BEFORE UPDATE ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.close()`);

test("what failed is sent again when an operator says so, whatever its rows hold", async () => {
  const { store, lease } = await changed(2);
  const [one] = await store.claim(lease, 1);
  if (!one) throw new Error("nothing waits");
  const { id, recordId, action } = one;
  await store.settle(lease, [{ kind: "refused", changeIds: [id], recordId, action, error: "X: no" }]);
  await close();

  const kept = keepSessions(() => customer.now).take({ url: customer.url, schema: "salesforce" });
  expect(await retryFailed(kept, "salesforce", "map_contact", [id])).toBe(1);

  expect((await rows()).map(([, , lastOp]) => lastOp)).toEqual(["FAILED", "PENDING"]);
  expect((await log()).map(({ state }) => state)).toEqual(["NEW", "NEW"]);
});

test("an operator's retry waits for no transaction that holds one of its rows", async () => {
  const { store, lease } = await changed(2);
  const claimed = await store.claim(lease, 10);
  await store.settle(
    lease,
    claimed.map(({ id, recordId, action }) => ({ kind: "refused", changeIds: [id], recordId, action, error: "X: no" })),
  );
  const user = await customer.connect();
  await user.query("BEGIN; UPDATE salesforce.contact SET lastname = 'mine' WHERE lastname = 'L1'");
  const kept = keepSessions(() => customer.now).take({ url: customer.url, schema: "salesforce" });

  const retried = await retryFailed(
    kept,
    "salesforce",
    "map_contact",
    claimed.map(({ id }) => id),
  );
  await user.query("COMMIT");

  expect(retried).toBe(2);
  expect(await customer.sql("SELECT lastname, _ab_lastop FROM salesforce.contact ORDER BY id")).toEqual([
    { lastname: "mine", _ab_lastop: "PENDING" },
    { lastname: "L2", _ab_lastop: "PENDING" },
  ]);
});

test("what a late save has undone is sent again, whatever its row holds", async () => {
  const cycle = await changed(1);
  const [late] = await pushAll(cycle, () => null, orgTime(5));
  await customer.sql("UPDATE salesforce.contact SET email = 'newer@example.com'");
  await pushAll(cycle, () => null, orgTime(6));
  await close();
  const save = { changeIds: [Number(late?.id)], recordId: Number(late?.recordId), sfid: sfidOf(1) };

  const sent = await cycle.store.requeueOverwritten(cycle.lease, [{ ...save, answeredAt: orgTime(9) }]);

  expect(sent).toEqual({ again: 1, underWay: 0 });
  expect((await log()).map(({ state }) => state)).toEqual(["SUCCESS", "NEW"]);
  expect((await rows()).map(([, , lastOp]) => lastOp)).toEqual(["UPDATED"]);
});
