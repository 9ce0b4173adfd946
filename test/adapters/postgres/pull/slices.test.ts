import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Customer, createCustomer, image, orgTime, page, pushAll, sfidOf } from "../customer.ts";

/** What an application's writers notice of a pull: a page locks few of its rows at a time, and none that it does not write. */

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const END = { marks: {}, pulledAt: null, apiCalls: {}, error: null };
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const named = (name: string, count: number, seconds: number) =>
  numbers(count).map((number) => image(number, seconds, { lastname: `${name} ${number}`, email: null }));
const position = async () => (await customer.sql("SELECT position FROM salesforce._bridge_state"))[0]?.["position"];

/** Rows that both sides know, and that nothing waits of. */
async function known(count: number) {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page(named("old", count, 1), { lane: "load", marks: { position: orgTime(0) } }));
  await store.finish(lease, END);
  await customer.sql("VACUUM salesforce.contact");
}

/** How many rows another session could not write now. */
async function countLocked(): Promise<number> {
  const [row] = await customer.sql(
    `SELECT (SELECT count(*) FROM salesforce.contact) - (SELECT count(*) FROM (
       SELECT FROM salesforce.contact FOR NO KEY UPDATE SKIP LOCKED) AS free) AS locked`,
  );
  return Number(row?.["locked"]);
}

/** A cycle that says after each statement of a page how many rows it has locked. */
async function watched(before: () => Promise<void> = async () => undefined) {
  const locked: number[] = [];
  const cycle = await customer.cycle({
    before: async () => {
      locked.push(await countLocked());
      await before();
    },
  });
  return { ...cycle, locked };
}

test("a page of 450 changed rows never locks more than 200 of them", async () => {
  await known(450);
  const { store, lease, locked } = await watched();

  const applied = await store.apply(lease, page(named("new", 450, 2), { marks: { position: orgTime(60) } }));

  expect(applied).toMatchObject({ updated: 450, unchanged: 0 });
  expect(Math.max(...locked)).toBe(200);
  expect(await customer.sql("SELECT FROM salesforce.contact WHERE lastname NOT LIKE 'new %'")).toEqual([]);
  expect(await position()).toEqual(orgTime(60));
});

test("a page of 450 deleted records never locks more than 200 rows, and all of it counts for the breaker", async () => {
  await customer.provision({ configVersion: 2, deleteLimit: "430" });
  await known(450);
  const { store, lease, locked } = await watched();

  const applied = await store.apply(lease, page(numbers(450).map((number) => image(number, 2, {}, true))));

  expect(applied).toMatchObject({ deleted: 430, heldDeletes: 20 });
  expect(Math.max(...locked)).toBeLessThanOrEqual(200);
  expect(await customer.sql("SELECT count(*)::int AS rows FROM salesforce.contact")).toEqual([{ rows: 20 }]);
});

test("450 rows of the application that meet their records by the upsert field are locked in slices, too", async () => {
  await customer.provision({ configVersion: 2, upsertField: "Key__c" });
  await customer.sql(
    "INSERT INTO salesforce.contact (key__c, lastname) SELECT 'K-' || n, 'new ' || n FROM generate_series(1, 450) n",
  );
  const { store, lease, locked } = await watched();
  const records = numbers(450).map((number) => image(number, 2, { key__c: `K-${number}`, lastname: `new ${number}` }));

  await store.apply(lease, page(records, { lane: "load" }));

  expect(Math.max(...locked)).toBe(200);
  expect(await customer.sql("SELECT count(*)::int AS met FROM salesforce.contact WHERE sfid IS NOT NULL")).toEqual([
    { met: 450 },
  ]);
});

test("a cycle that is killed between two slices leaves the watermark; the page comes again and is written down once", async () => {
  await known(450);
  let updates = 0;
  const killed = await customer.cycle({
    before: async (statement) => {
      if (/UPDATE "salesforce"."contact"/.test(statement)) updates += 1;
      if (updates > 2) throw new Error("killed");
    },
  });
  const changed = page(named("new", 450, 2), { keepsHistory: true, marks: { position: orgTime(60) } });

  await expect(killed.store.apply(killed.lease, changed)).rejects.toThrow("killed");
  await killed.store.close();
  const written = await customer.sql(
    "SELECT count(*)::int AS rows FROM salesforce.contact WHERE lastname LIKE 'new %'",
  );
  const before = await position();
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = now()");
  const { store, lease } = await customer.cycle();
  const applied = await store.apply(lease, changed);

  expect(written).toEqual([{ rows: 400 }]);
  expect(before).toEqual(orgTime(0));
  expect(applied).toMatchObject({ updated: 50, unchanged: 400 });
  expect(await position()).toEqual(orgTime(60));
  expect(
    await customer.sql(
      "SELECT count(*)::int AS lines, count(DISTINCT record_id)::int AS rows FROM salesforce._bridge_history",
    ),
  ).toEqual([{ lines: 450, rows: 450 }]);
});

describe("what a slice needs may come with a later one", () => {
  test("two records of different slices that have swapped their upsert values both arrive", async () => {
    await customer.provision({ configVersion: 2, upsertField: "Key__c" });
    const keyed = (key: (number: number) => string, seconds: number) =>
      numbers(450).map((number) => image(number, seconds, { key__c: key(number), lastname: `L${number}` }));
    const first = await customer.cycle();
    await first.store.apply(first.lease, page(keyed((number) => `K-${number}`, 1)));
    const swapped = (number: number) => `K-${number === 1 ? 450 : number === 450 ? 1 : number}`;

    const applied = await first.store.apply(first.lease, page(keyed(swapped, 2)));

    expect(applied).toMatchObject({ rejected: 0 });
    expect(
      await customer.sql("SELECT sfid, key__c FROM salesforce.contact WHERE key__c IN ('K-1', 'K-450') ORDER BY sfid"),
    ).toEqual([
      { sfid: sfidOf(1), key__c: "K-450" },
      { sfid: sfidOf(450), key__c: "K-1" },
    ]);
    expect(await customer.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
  });

  test("a row that refers to a record which the same page brings arrives with it", async () => {
    await customer.sql(`CREATE UNIQUE INDEX ON salesforce.contact (key__c);
      ALTER TABLE salesforce.contact ADD CONSTRAINT leads FOREIGN KEY (email) REFERENCES salesforce.contact (key__c) DEFERRABLE INITIALLY DEFERRED`);
    await known(250);
    const { store, lease } = await customer.cycle();
    const led = named("new", 250, 2).map((one) => ({ ...one, values: { ...one.values, email: "the lead" } }));

    const applied = await store.apply(lease, page([...led, image(900, 2, { key__c: "the lead", lastname: "Lead" })]));

    expect(applied).toMatchObject({ updated: 250, inserted: 1, rejected: 0 });
    expect(await customer.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
  });

  test("a value that a column refuses keeps its own record out, and no other of any slice", async () => {
    await customer.sql("ALTER TABLE salesforce.contact ADD CHECK (lastname <> 'forbidden')");
    await known(450);
    const { store, lease } = await customer.cycle();
    const records = named("new", 450, 2);
    records[219] = image(220, 2, { lastname: "forbidden", email: null });

    const applied = await store.apply(lease, page(records, { marks: { position: orgTime(60) } }));

    expect(applied).toMatchObject({ updated: 449, rejected: 1 });
    expect(await customer.sql("SELECT lastname FROM salesforce.contact WHERE lastname NOT LIKE 'new %'")).toEqual([
      { lastname: "old 220" },
    ]);
    expect(await customer.sql("SELECT sfid FROM salesforce._bridge_inbound_errors")).toEqual([{ sfid: sfidOf(220) }]);
    expect(await position()).toEqual(orgTime(60));
  });
});

/** A row whose record comes again with the stamp that it has. `locks`: PostgreSQL writes the lock of a row into it. */
const AGAIN = [
  { says: "nothing new", locks: false, values: { lastname: "old 1", email: null } },
  { says: "another value of the same second", locks: true, values: { lastname: "new", email: null } },
  {
    says: "nothing new, and a change of the row waits",
    first: "UPDATE salesforce.contact SET email = 'mine@example.com' WHERE id = 1",
    locks: true,
    values: { lastname: "old 1", email: null },
  },
  {
    says: "nothing new, and a change of the row waits that says the same",
    first: "UPDATE salesforce.contact SET lastname = 'x'; UPDATE salesforce.contact SET lastname = 'old 1'",
    locks: true,
    values: { lastname: "old 1", email: null },
  },
  {
    says: "nothing new, and its deletion is held",
    first: `INSERT INTO salesforce._bridge_held_deletes (mapping_id, sfid, stamp, read_at, held_at)
            VALUES ('map_contact', '${sfidOf(1)}', now(), now(), now())`,
    locks: true,
    values: { lastname: "old 1", email: null },
  },
  {
    says: "nothing new, and it could not be applied before",
    first: `INSERT INTO salesforce._bridge_inbound_errors (mapping_id, sfid, error, first_at, last_at)
            VALUES ('map_contact', '${sfidOf(1)}', 'refused', now(), now())`,
    locks: true,
    values: { lastname: "old 1", email: null },
  },
] as const;

test.each(AGAIN)(
  "a record that comes again with $says: is its row locked? $locks",
  async ({ locks, values, ...more }) => {
    await known(1);
    if ("first" in more) await customer.sql(more.first);
    const { store, lease, locked } = await watched();

    const applied = await store.apply(lease, page([image(1, 1, values)], { marks: { position: orgTime(60) } }));

    expect(Math.max(...locked)).toBe(locks ? 1 : 0);
    expect(applied).toMatchObject({ updated: values.lastname === "new" ? 1 : 0, rejected: 0 });
    expect(await position()).toEqual(orgTime(60));
    expect(await customer.sql("SELECT FROM salesforce._bridge_held_deletes")).toEqual([]);
    expect(await customer.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
  },
);

test("a row without a zone in its stamp is not locked for what it shows already", async () => {
  await customer.sql(
    "ALTER TABLE salesforce.contact ALTER COLUMN systemmodstamp TYPE timestamp USING systemmodstamp AT TIME ZONE 'UTC'",
  );
  await customer.provision({ configVersion: 2 });
  await customer.sql(
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$",
  );
  await known(1);
  const { store, lease, locked } = await watched();

  const applied = await store.apply(lease, page([image(1, 1, { lastname: "old 1", email: null })]));

  expect(Math.max(...locked)).toBe(0);
  expect(applied).toMatchObject({ updated: 0, unchanged: 1 });
});

describe.each([0, 1, 2, 3, 4])("what the application writes at statement %i of a page with nothing new", (step) => {
  test.each([
    ["UPDATE salesforce.contact SET email = 'user@example.com'", [{ lastname: "old 1", email: "user@example.com" }]],
    ["DELETE FROM salesforce.contact", []],
  ])("stays, and is sent: %s", async (statement, rows) => {
    await known(1);
    let statements = 0;
    const { store, lease } = await customer.cycle({
      before: async () => {
        if (statements++ === step) await customer.sql(statement);
      },
    });

    await store.apply(
      lease,
      page([image(1, 1, { lastname: "old 1", email: null })], { marks: { position: orgTime(60) } }),
    );
    if (statements <= step) await customer.sql(statement);
    const sent = await pushAll({ store, lease }, () => null, orgTime(70));

    expect(await customer.sql("SELECT lastname, email FROM salesforce.contact")).toEqual(rows);
    expect(sent).toMatchObject([{ action: statement.slice(0, 6), sfid: sfidOf(1) }]);
  });
});

test("rows of several slices that a transaction holds are left for later, and all others arrive", async () => {
  await known(450);
  const user = await customer.connect();
  await user.query("BEGIN; UPDATE salesforce.contact SET email = 'user@example.com' WHERE id % 150 = 0");
  const { store, lease } = await customer.cycle();

  const applied = await store.apply(lease, page(named("new", 450, 2)));
  const waits = await customer.sql("SELECT sfid, sqlstate FROM salesforce._bridge_inbound_errors ORDER BY sfid");
  await user.query("COMMIT");

  expect(applied).toMatchObject({ updated: 447, rejected: 3, busy: 3 });
  expect(waits).toEqual([150, 300, 450].map((number) => ({ sfid: sfidOf(number), sqlstate: "55P03" })));
});

test("a row that waits for its slice is written before the next slices are", async () => {
  await known(450);
  const writer = await customer.connect();
  let edit: Promise<unknown> | undefined;
  let atLastSlice: unknown;
  const { store, lease } = await customer.cycle({
    before: async () => {
      const locked = await countLocked();
      if (locked === 200)
        edit ??= writer.query("UPDATE salesforce.contact SET email = 'user@example.com' WHERE id = 1");
      // One more while the edit itself, whose row the first slice has let go, is not committed.
      if (locked === 50 || locked === 51) atLastSlice ??= await edit?.then(() => customer.sql(FIRST_ROW));
    },
  });

  await store.apply(lease, page(named("new", 450, 2)));

  expect(atLastSlice).toEqual([{ lastname: "new 1", email: "user@example.com" }]);
  expect(await customer.sql(FIRST_ROW)).toEqual([{ lastname: "new 1", email: "user@example.com" }]);
});

const FIRST_ROW = "SELECT lastname, email FROM salesforce.contact WHERE id = 1";
