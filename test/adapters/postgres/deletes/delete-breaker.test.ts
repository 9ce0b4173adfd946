import { afterEach, beforeEach, expect, test } from "vitest";
import { confirmDeletes, retryFailed } from "../../../../lib/adapters/postgres/operations/operations.ts";
import { keepSessions } from "../../../../lib/adapters/postgres/session/request-session.ts";
import { firstInGate, longTest } from "../../../support/run/whole-grid.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer({ shape: contactShape({ upsertField: "Key__c" }) });
});
afterEach(() => customer.close());

const END = { marks: {}, pulledAt: null, apiCalls: {}, error: null };
const kept = () => keepSessions(() => customer.now).take({ url: customer.url, schema: "salesforce" });
const ALL = Number.POSITIVE_INFINITY;
const minutesLater = (minutes: number) => {
  customer.now = new Date(customer.now.getTime() + minutes * 60_000);
};
const countRows = async () =>
  Number((await customer.sql("SELECT count(*) AS rows FROM salesforce.contact"))[0]?.["rows"]);

/** A cycle over so many rows that both sides know, whose upsert values are their numbers. */
async function withRows(count: number) {
  const { store, lease } = await customer.cycle();
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  await store.apply(lease, page(numbers.map((n) => image(n, 1, { lastname: `L${n}`, key__c: String(n) }))));
  return { store, lease, numbers };
}

test("rows deleted in Salesforce beyond a hundred in an hour wait for a confirmation, and the rest flows", async () => {
  const { store, lease, numbers } = await withRows(300);
  const deletions = numbers.slice(0, 200).map((n) => image(n, 2, {}, true));

  const first = await store.apply(lease, page([...deletions, image(301, 2, { lastname: "L301" })]));
  minutesLater(59);
  const within = await store.apply(lease, page(deletions.slice(100)));
  minutesLater(2);
  const after = await store.apply(lease, page(deletions.slice(100, 150)));

  expect(first).toMatchObject({ deleted: 100, heldDeletes: 100, inserted: 1 });
  expect(within).toMatchObject({ deleted: 0, heldDeletes: 100 });
  expect(after).toMatchObject({ deleted: 50, heldDeletes: 0 });
});

test("a tenth of a large table may be deleted in an hour", async () => {
  const { store, lease, numbers } = await withRows(2_000);
  await customer.sql("ANALYZE salesforce.contact");

  const applied = await store.apply(lease, page(numbers.slice(0, 250).map((n) => image(n, 2, {}, true))));

  expect(applied).toMatchObject({ deleted: 200, heldDeletes: 50 });
});

/** Tombstones of so many deletes in each of the hours that lie so far back. */
const deleted = (count: number, hoursAgo: readonly number[], bySalesforce: boolean) =>
  customer.sql(
    `INSERT INTO salesforce._bridge_tombstones (mapping_id, sfid, record_id, reason, by_salesforce, deleted_at)
     SELECT 'map_contact', 'a09' || lpad(n::text, 12, '0') || 'AAA', n, 'sample', $4,
       date_trunc('hour', $3::timestamptz) - make_interval(hours => ago) + interval '30 minutes'
     FROM unnest($2::int[]) AS ago, generate_series(1, $1::int) n`,
    [count, hoursAgo, customer.now, bySalesforce],
  );

longTest("a table whose rows come and go at 2.5 % an hour is never held, on either side", async () => {
  const { store, lease } = await withRows(0);
  let next = 1;
  let oldest = 1;
  const come = async (count: number) => {
    const numbers = Array.from({ length: count }, () => next++);
    await store.apply(lease, page(numbers.map((n) => image(n, 1, { lastname: `L${n}`, key__c: String(n) }))));
  };
  await come(8_000);
  await customer.sql("ANALYZE salesforce.contact");
  let held = 0;

  for (let quarter = 0; quarter < 12; quarter += 1) {
    const gone = Array.from({ length: 50 }, () => oldest++);
    held += (await store.apply(lease, page(gone.map((n) => image(n, 2, {}, true))))).heldDeletes;
    oldest += 50;
    await customer.sql("DELETE FROM salesforce.contact WHERE key__c::int < $1", [oldest]);
    await pushAll({ store, lease }, () => null, orgTime(5));
    await come(100);
    minutesLater(15);
  }

  expect(held).toBe(0);
  expect(await customer.sql("SELECT FROM salesforce._trigger_log WHERE held OR state <> 'SUCCESS'")).toEqual([]);
  expect(await countRows()).toBe(8_000);
});

test("three times what the busiest hour of the week before brought is let through, each side by its own", async () => {
  const { store, lease, numbers } = await withRows(400);
  await deleted(60, [25, 26, 27], true);
  await deleted(90, [100], true);
  // Today's hours and those of the week before last show nothing, nor does the other side.
  await deleted(200, [2, 23, 170], true);
  await deleted(5, [30], false);
  await customer.sql("DELETE FROM salesforce.contact WHERE id > 280");

  const applied = await store.apply(lease, page(numbers.slice(0, 280).map((n) => image(n, 2, {}, true))));
  const sent = await pushAll({ store, lease }, () => null, orgTime(5));

  expect(applied).toMatchObject({ deleted: 270, heldDeletes: 10 });
  expect(sent).toHaveLength(100);
  expect(await customer.sql("SELECT count(*)::int AS held FROM salesforce._trigger_log WHERE held")).toEqual([
    { held: 20 },
  ]);
});

test.each(
  firstInGate(3, [
    ["25%", 75, 75],
    ["0", 0, 0],
    ["off", 140, 160],
    ["30", 30, 30],
    ["100%", 140, 160],
  ] as const),
)("a mapping whose limit is %s lets %i rows and %i records go in an hour", async (deleteLimit, rows, records) => {
  await customer.provision({ deleteLimit });
  const { store, lease, numbers } = await withRows(300);
  await customer.sql("ANALYZE salesforce.contact");
  await customer.sql("DELETE FROM salesforce.contact WHERE id > 140");

  const claimed = await store.claim(lease, 150);
  const applied = await store.apply(lease, page(numbers.slice(0, 140).map((n) => image(n, 2, {}, true))));
  const more = await store.claim(lease, 1_000);

  expect(applied).toMatchObject({ deleted: rows, heldDeletes: 140 - rows });
  expect(claimed.length + more.length).toBe(records);
});

test("however many deletes a page brings, the table is not counted in its transaction", async () => {
  const statements: string[] = [];
  const { store, lease } = await customer.cycle({ before: async (statement) => void statements.push(statement) });
  const numbers = Array.from({ length: 600 }, (_, index) => index + 1);
  await store.apply(lease, page(numbers.map((n) => image(n, 1, { lastname: `L${n}`, key__c: String(n) }))));
  await customer.sql("DELETE FROM salesforce.contact WHERE id > 300");
  statements.length = 0;

  const applied = await store.apply(lease, page(numbers.slice(0, 300).map((n) => image(n, 2, {}, true))));
  await store.claim(lease, 1_000);

  expect(applied.heldDeletes).toBeGreaterThan(0);
  expect(statements.filter((text) => /count\(\*\)[^;]*FROM "salesforce"\."contact"/.test(text))).toEqual([]);
});

test("confirmed deletes of rows are carried out by the next cycle, but not of a record that came back", async () => {
  const { store, lease, numbers } = await withRows(150);
  await store.apply(lease, page(numbers.slice(0, 110).map((n) => image(n, 2, {}, true))));
  await store.apply(lease, page([image(110, 9, { lastname: "undeleted", key__c: "110" })]));
  await store.finish(lease, END);
  const held = await customer.cycle();
  await held.store.finish(held.lease, END);

  const confirmed = await confirmDeletes(kept(), "salesforce", "map_contact", ALL, null);
  const next = await customer.cycle();
  await next.store.recover(next.lease);

  expect(held.begun).toMatchObject({ heldDeletes: 9, waiting: { unfinished: false } });
  expect(confirmed).toBe(9);
  expect(next.begun).toMatchObject({ heldDeletes: 0, waiting: { unfinished: true } });
  expect(await countRows()).toBe(41);
  expect(await customer.sql("SELECT FROM salesforce._bridge_held_deletes")).toEqual([]);
  expect(await customer.sql("SELECT lastname FROM salesforce.contact WHERE key__c = '110'")).toHaveLength(1);
});

longTest("a confirmed delete of a row that a transaction holds is carried out once that has ended", async () => {
  const { store, lease, numbers } = await withRows(120);
  await store.apply(lease, page(numbers.slice(0, 110).map((n) => image(n, 2, {}, true))));
  await store.finish(lease, END);
  await confirmDeletes(kept(), "salesforce", "map_contact", ALL, null);
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("UPDATE salesforce.contact SET lastname = 'busy' WHERE key__c = '105'");

  const meanwhile = await customer.cycle();
  await meanwhile.store.recover(meanwhile.lease);
  const left = await customer.sql("SELECT sfid, confirmed FROM salesforce._bridge_held_deletes");
  await user.query("ROLLBACK");
  await meanwhile.store.finish(meanwhile.lease, END);
  const next = await customer.cycle();
  await next.store.recover(next.lease);

  expect(left).toEqual([{ sfid: sfidOf(105), confirmed: true }]);
  expect(next.begun.waiting).toMatchObject({ unfinished: true });
  expect(await countRows()).toBe(10);
  expect(await customer.sql("SELECT FROM salesforce._bridge_held_deletes")).toEqual([]);
});

test("an application that deletes everything deletes a hundred records, and the rest waits for a confirmation", async () => {
  const { store, lease } = await withRows(300);
  await customer.sql("DELETE FROM salesforce.contact");

  const sent = await pushAll({ store, lease }, () => null, orgTime(5));
  const more = await store.claim(lease, 1_000);
  await store.finish(lease, END);
  const held = await customer.cycle();
  await confirmDeletes(kept(), "salesforce", "map_contact", ALL, null);
  const rest = await held.store.claim(held.lease, 1_000);

  expect(sent).toHaveLength(100);
  expect(more).toEqual([]);
  expect(held.begun.heldDeletes).toBe(200);
  expect(rest).toHaveLength(200);
  expect(new Set([...sent, ...rest].map(({ sfid }) => sfid)).size).toBe(300);
});

test("deletes that are under way or in doubt count in the hour's limit", async () => {
  const { store, lease } = await withRows(300);
  await customer.sql("DELETE FROM salesforce.contact WHERE id <= 80");
  const sent = await store.claim(lease, 1_000);
  await store.markSent(
    lease,
    "bulk delete 7500000000000001AAA",
    sent.map(({ id }) => id),
  );
  await customer.sql("DELETE FROM salesforce.contact WHERE id <= 160");

  const more = await store.claim(lease, 1_000);

  expect([sent.length, more.length]).toEqual([80, 20]);
});

test("deletes that Salesforce has accepted within the hour count as well", async () => {
  const { store, lease } = await withRows(300);
  await customer.sql("DELETE FROM salesforce.contact WHERE id <= 80");
  const accepted = await pushAll({ store, lease }, () => null, orgTime(5));
  await customer.sql("DELETE FROM salesforce.contact WHERE id <= 160");
  minutesLater(59);

  const more = await store.claim(lease, 1_000);
  await store.finish(lease, END);

  expect([accepted.length, more.length]).toEqual([80, 20]);
  expect((await customer.cycle()).begun.heldDeletes).toBe(60);
});

test.each(
  firstInGate(1, [
    ["key-1", "KEY-1"],
    ["ÄÖÜ", "äöü"],
  ] as const),
)(
  "a new row whose upsert value is that of a held delete in another case waits behind it: %s, %s",
  async (value, same) => {
    const { store, lease } = await withRows(120);
    await store.apply(lease, page([image(120, 2, { lastname: "L120", key__c: value })]));
    await customer.sql("DELETE FROM salesforce.contact");
    await customer.sql("INSERT INTO salesforce.contact (key__c, lastname) VALUES ($1, 'again')", [same]);

    const claimed = await store.claim(lease, 1_000);

    expect(claimed.map(({ action }) => action)).toEqual(Array(100).fill("DELETE"));
  },
);

test("a new row with the upsert value of a held delete waits behind it, other rows do not", async () => {
  const { store, lease } = await withRows(120);
  await customer.sql("DELETE FROM salesforce.contact");
  await customer.sql("INSERT INTO salesforce.contact (key__c, lastname) VALUES (' 120', 'again'), ('new', 'other')");

  const claimed = await store.claim(lease, 1_000);

  const inserts = claimed.filter(({ action }) => action === "INSERT");
  expect(claimed).toHaveLength(101);
  expect(inserts).toMatchObject([{ values: { key__c: "new" } }]);
});

test("a change of a held delete's row, or of its record, waits behind it, however long its id is written", async () => {
  const { store, lease } = await withRows(5);
  await customer.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, held)
     VALUES ('UPDATE', 'contact', 1000, $1, false), ('DELETE', 'contact', 1001, $1, true), ('DELETE', 'contact', 1002, $2, true),
       ('DELETE', 'contact', 3, NULL, true), ('DELETE', 'contact', 1005, $3, true)`,
    [sfidOf(1), sfidOf(2).slice(0, 15), sfidOf(5)],
  );
  await customer.sql("UPDATE salesforce.contact SET sfid = left(sfid, 15) WHERE id = 5");
  await customer.sql("UPDATE salesforce.contact SET lastname = 'changed'");

  const claimed = await store.claim(lease, 10);

  // What came before the first delete goes; after it row 1 has that record, rows 2 and 5 have the others, and row 3 is itself deleted.
  expect(claimed.map(({ recordId, values }) => [recordId, values["lastname"]])).toEqual([
    [1000, undefined],
    [4, "changed"],
  ]);
});

test("a new row with the upsert value of a delete that waits for its retry waits behind it", async () => {
  const { store, lease } = await withRows(1);
  await customer.sql("DELETE FROM salesforce.contact");
  const [deletion] = await store.claim(lease, 10);
  const retry = { kind: "retry", afterSeconds: 60, counts: true, error: "UNABLE_TO_LOCK_ROW: busy" } as const;
  await store.settle(lease, [{ ...retry, changeIds: [Number(deletion?.id)], recordId: 1 }]);
  await customer.sql("INSERT INTO salesforce.contact (key__c, lastname) VALUES ('1', 'again')");

  const early = await store.claim(lease, 10);
  minutesLater(1);
  const due = await store.claim(lease, 10);

  expect(early).toEqual([]);
  expect(due).toMatchObject([
    { action: "DELETE", sfid: sfidOf(1) },
    { action: "INSERT", sfid: null },
  ]);
});

test("an operator's retry gives failed changes another five attempts, with exact totals", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('a'), ('b')");
  const { store, lease } = await customer.cycle();
  const changes = await store.claim(lease, 10);
  await store.settle(
    lease,
    changes.map(({ id, recordId }) => ({
      kind: "refused",
      changeIds: [id],
      recordId,
      action: "INSERT",
      error: "X: no",
    })),
  );

  const one = await retryFailed(kept(), "salesforce", "map_contact", [Number(changes[0]?.id)]);
  const marks = await customer.sql("SELECT _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id");
  const rest = await retryFailed(kept(), "salesforce", "map_contact", [Number(changes[1]?.id)]);

  expect([one, rest]).toEqual([1, 1]);
  expect(marks).toEqual([
    { _ab_lastop: "PENDING", _ab_err: null },
    { _ab_lastop: "FAILED", _ab_err: "X: no" },
  ]);
  expect(await customer.sql("SELECT failed::int FROM salesforce._bridge_totals")).toEqual([{ failed: 0 }]);
  expect(await store.claim(lease, 10)).toHaveLength(2);
});

longTest(
  "an application that empties a table finds all of it held by the first claim, and confirms all of it at once",
  async () => {
    const count = 25_000;
    await customer.sql(
      `WITH silent AS (SELECT set_config('bridge.in_sync', 'contact', false))
     INSERT INTO salesforce.contact (lastname, sfid, key__c)
     SELECT 'L' || n, 'a00' || lpad(n::text, 12, '0') || 'AAA', n FROM silent, generate_series(1, $1::int) n`,
      [count],
    );
    await customer.sql("SELECT set_config('bridge.in_sync', '', false)");
    await customer.sql("DELETE FROM salesforce.contact");
    await customer.sql("VACUUM salesforce.contact");
    const looks: string[] = [];
    const { store, lease } = await customer.cycle({
      before: async (statement) => void (statement.includes("WITH horizon") && looks.push(statement)),
    });

    const claimed = await store.claim(lease, 2_500);
    await store.release(
      lease,
      claimed.map(({ id }) => id),
    );

    const held = "SELECT count(*)::int AS held FROM salesforce._trigger_log WHERE held";
    expect(claimed).toHaveLength(100);
    expect(await customer.sql(held)).toEqual([{ held: count - 100 }]);
    // All but a tenth of what the first statement found, then all but what an hour allows, which the last one finds.
    expect(looks).toHaveLength(3);
    expect(await confirmDeletes(kept(), "salesforce", "map_contact", ALL, null)).toBe(count - 100);
    expect(await customer.sql(held)).toEqual([{ held: 0 }]);
    await store.finish(lease, END);
  },
);

longTest(
  "so many deletes are confirmed on either side as one request has time for, and the rest when it is asked again",
  async () => {
    const count = 50_000;
    await customer.sql(
      `INSERT INTO salesforce._bridge_held_deletes (mapping_id, sfid, held_at, stamp, read_at)
     SELECT 'map_contact', 'a00' || lpad(n::text, 12, '0') || 'AAA', now(), now(), now() FROM generate_series(1, $1::int) n`,
      [count],
    );
    await customer.sql(
      `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, held)
     SELECT 'DELETE', 'contact', n, 'a01' || lpad(n::text, 12, '0') || 'AAA', true FROM generate_series(1, $1::int) n`,
      [count],
    );
    const left = async () => {
      const [held] = await customer.sql(
        `SELECT (SELECT count(*)::int FROM salesforce._bridge_held_deletes WHERE NOT confirmed) AS rows,
         (SELECT count(*)::int FROM salesforce._trigger_log WHERE held) AS records`,
      );
      return held;
    };

    expect(await confirmDeletes(kept(), "salesforce", "map_contact", 30_000, null)).toBe(40_000);
    expect(await left()).toEqual({ rows: 10_000, records: 50_000 });
    expect(await confirmDeletes(kept(), "salesforce", "map_contact", 30_000, null)).toBe(30_000);
    expect(await left()).toEqual({ rows: 0, records: 30_000 });
    expect(await confirmDeletes(kept(), "salesforce", "map_contact", ALL, null)).toBe(30_000);
    expect(await left()).toEqual({ rows: 0, records: 0 });
  },
);

test("waiting changes are joined to a page's records by a hash table, not one by one", async ({ skip }) => {
  const [{ server_version_num: version } = {}] = await customer.sql("SHOW server_version_num");
  skip(Number(version) < 160_000, "EXPLAIN knows no GENERIC_PLAN before PostgreSQL 16");
  const statements: string[] = [];
  const { store, lease } = await customer.cycle({ before: async (statement) => void statements.push(statement) });
  await store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
  await store.finish(lease, END);

  const asked = statements.find((text) => text.startsWith("WITH asked")) ?? "";
  const names = [...new Set(asked.match(/(?<!:):[a-z]\w*/g))];
  const statement = asked.replace(/(?<!:):[a-z]\w*/g, (name) => `$${names.indexOf(name) + 1}`);
  const plan = await customer.sql(`EXPLAIN (GENERIC_PLAN) ${statement}`);

  const comparisons = plan
    .map((row) => String(row["QUERY PLAN"]))
    .filter((line) => /Filter:.*sfid.*SubPlan/.test(line));
  // The deletes that wait, what was pushed, at all and lately, and results that were not written back.
  expect(comparisons).toHaveLength(4);
  for (const comparison of comparisons) expect(comparison).toContain("hashed SubPlan");
});
