import { expect, test } from "vitest";
import { confirmDeletes as confirmDeletesOf } from "../../../../lib/adapters/postgres/operations/operations.ts";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { image, orgTime, page, pushAll, sfidOf } from "../customer.ts";
import { claimAndSend, END, known, numbersTo, retriedIn } from "../cycles.ts";
import { aCustomerForEachTest, customer, kept, laterBy, sql } from "../world.ts";

aCustomerForEachTest({ shape: contactShape({ upsertField: "Key__c" }) });

const ALL = Number.POSITIVE_INFINITY;
const confirmDeletes = (most: number) => confirmDeletesOf(kept(), "salesforce", "map_contact", most, null);
const countOf = async (from: string) => (await sql(`SELECT count(*)::int AS n FROM salesforce.${from}`))[0]?.["n"];

/** A cycle over so many rows that both sides know, whose upsert values are their numbers. */
async function withRows(count: number) {
  await known(count, (n) => ({ lastname: `L${n}`, key__c: String(n) }));
  return customer.cycle();
}

/** The records of these numbers, deleted in Salesforce. */
const deletions = (first: number, last: number) =>
  page(
    numbersTo(last)
      .slice(first - 1)
      .map((n) => image(n, 2, {}, true)),
  );

test("rows deleted in Salesforce beyond a hundred in an hour wait for a confirmation, and the rest flows", async () => {
  const { store, lease } = await withRows(300);

  const { images } = deletions(1, 200);
  const first = await store.apply(lease, page([...images, image(301, 2, { lastname: "L301" })]));
  laterBy(59 * 60);
  const within = await store.apply(lease, deletions(101, 200));
  laterBy(2 * 60);
  const after = await store.apply(lease, deletions(101, 150));

  expect(first).toMatchObject({ deleted: 100, heldDeletes: 100, inserted: 1 });
  expect(within).toMatchObject({ deleted: 0, heldDeletes: 100 });
  expect(after).toMatchObject({ deleted: 50, heldDeletes: 0 });
});

test("three times what the busiest hour of the week before brought is let through, each side by its own", async () => {
  /** Tombstones of so many deletes in each of the hours that lie so far back. */
  const deleted = (count: number, hoursAgo: readonly number[], bySalesforce: boolean) =>
    sql(
      `INSERT INTO salesforce._bridge_tombstones (mapping_id, sfid, record_id, reason, by_salesforce, deleted_at)
       SELECT 'map_contact', 'a09' || lpad(n::text, 12, '0') || 'AAA', n, 'sample', $4,
         date_trunc('hour', $3::timestamptz) - make_interval(hours => ago) + interval '30 minutes'
       FROM unnest($2::int[]) AS ago, generate_series(1, $1::int) n`,
      [count, hoursAgo, customer.now, bySalesforce],
    );
  const { store, lease } = await withRows(400);
  await deleted(60, [25, 26, 27], true);
  await deleted(90, [100], true);
  // Today's hours and those of the week before last show nothing, nor does the other side.
  await deleted(200, [2, 23, 170], true);
  await deleted(5, [30], false);
  await sql("DELETE FROM salesforce.contact WHERE id > 280");

  const applied = await store.apply(lease, deletions(1, 280));
  const sent = await pushAll({ store, lease }, () => null, orgTime(5));

  expect(applied).toMatchObject({ deleted: 270, heldDeletes: 10 });
  expect(sent).toHaveLength(100);
  expect(await countOf("_trigger_log WHERE held")).toBe(20);
});

test.each([
  ["25%", 300, 75, 75],
  ["0", 300, 0, 0],
  ["off", 300, 140, 160],
  ["auto", 1_100, 110, 110],
] as const)(
  "a limit of %s for %i rows lets %i rows and %i records go in an hour",
  async (deleteLimit, count, rows, records) => {
    await customer.provision({ deleteLimit });
    const { store, lease } = await withRows(count);
    await sql("ANALYZE salesforce.contact");
    await sql("DELETE FROM salesforce.contact WHERE id > 140 AND id <= 300");

    const claimed = await store.claim(lease, 150);
    const applied = await store.apply(lease, deletions(1, 140));
    const more = await store.claim(lease, 1_000);

    expect(applied).toMatchObject({ deleted: rows, heldDeletes: 140 - rows });
    expect(claimed.length + more.length).toBe(records);
  },
);

test("confirmed deletes of rows are carried out by the next cycle, but not of a record that came back", async () => {
  const { store, lease } = await withRows(150);
  await store.apply(lease, deletions(1, 110));
  await sql("UPDATE salesforce.contact SET email = 'mine@example.com' WHERE key__c IN ('108', '109')");
  await store.apply(lease, page([109, 110].map((n) => image(n, 9, { lastname: "undeleted", key__c: String(n) }))));
  await pushAll({ store, lease }, () => null, orgTime(100));
  await store.apply(lease, { ...deletions(111, 111), readAt: orgTime(500) });
  await store.finish(lease, END);
  const held = await customer.cycle();
  await held.store.finish(held.lease, END);

  const confirmed = await confirmDeletes(ALL);
  const next = await customer.cycle();
  await next.store.recover(next.lease);

  expect(held.begun).toMatchObject({ heldDeletes: 9, waiting: { unfinished: false } });
  expect(confirmed).toBe(9);
  expect(next.begun).toMatchObject({ heldDeletes: 0, waiting: { unfinished: true } });
  expect(await countOf("contact")).toBe(42);
  expect(await countOf("_bridge_held_deletes")).toBe(0);
  expect(await countOf("contact WHERE key__c IN ('108', '109', '110')")).toBe(3);
});

test("an application that deletes everything deletes a hundred records, and the rest waits for a confirmation", async () => {
  const { store, lease } = await withRows(300);
  await sql("DELETE FROM salesforce.contact");

  const sent = await pushAll({ store, lease }, () => null, orgTime(5));
  const more = await store.claim(lease, 1_000);
  await store.finish(lease, END);
  const held = await customer.cycle();
  await confirmDeletes(ALL);
  const rest = await held.store.claim(held.lease, 1_000);
  await held.store.settle(
    held.lease,
    rest.map((change) => retriedIn(-1, change)),
  );

  expect(await held.store.claim(held.lease, 1_000), "what was confirmed stays so when it is tried again").toHaveLength(
    200,
  );
  expect([sent.length, more.length, held.begun.heldDeletes, rest.length]).toEqual([100, 0, 200, 200]);
  expect(new Set([...sent, ...rest].map(({ sfid }) => sfid)).size).toBe(300);
});

test.each(["are under way or in doubt", "were accepted"])("deletes that %s count in the hour's limit", async (how) => {
  const { store, lease } = await withRows(300);
  await sql("DELETE FROM salesforce.contact WHERE id <= 80");
  if (how === "were accepted") await pushAll({ store, lease }, () => null, orgTime(5));
  else await claimAndSend({ store, lease });
  await sql("DELETE FROM salesforce.contact WHERE id <= 160");
  laterBy(59 * 60);

  const more = await store.claim(lease, 1_000);
  await store.finish(lease, END);

  expect(more).toHaveLength(20);
  expect((await customer.cycle()).begun.heldDeletes).toBe(60);
});

test("new rows with the upsert values of held deletes wait behind them, in any case, and other rows do not", async () => {
  const { store, lease } = await withRows(120);
  await sql(`SET bridge.in_sync = 'contact';
    UPDATE salesforce.contact SET key__c = CASE id WHEN 118 THEN 'key-1' ELSE 'ÄÖÜ' END WHERE id IN (118, 119);
    RESET bridge.in_sync`);
  await sql("DELETE FROM salesforce.contact");
  await sql("INSERT INTO salesforce.contact (key__c) VALUES (' 120'), ('KEY-1'), ('äöü'), ('new')");

  const claimed = await store.claim(lease, 1_000);

  expect(claimed).toHaveLength(101);
  expect(claimed.filter(({ action }) => action === "INSERT")).toMatchObject([{ values: { key__c: "new" } }]);
});

test("a change of a held delete's row, or of its record, waits behind it, however long its id is written", async () => {
  const { store, lease } = await withRows(5);
  await sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, held)
     VALUES ('UPDATE', 'contact', 1000, $1, false), ('DELETE', 'contact', 1001, $1, true), ('DELETE', 'contact', 1002, $2, true),
       ('DELETE', 'contact', 3, NULL, true), ('DELETE', 'contact', 1005, $3, true)`,
    [sfidOf(1), sfidOf(2).slice(0, 15), sfidOf(5)],
  );
  await sql("UPDATE salesforce.contact SET sfid = left(sfid, 15) WHERE id = 5");
  await sql("UPDATE salesforce.contact SET lastname = 'changed'");

  const claimed = await store.claim(lease, 10);

  // What came before the first delete goes; after it row 1 has that record, rows 2 and 5 have the others, and row 3 is itself deleted.
  expect(claimed.map(({ recordId, values }) => [recordId, values["lastname"]])).toEqual([
    [1000, undefined],
    [4, "changed"],
  ]);
});
