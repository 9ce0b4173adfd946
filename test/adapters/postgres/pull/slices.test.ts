import { expect, test } from "vitest";
import { image, orgTime, page, pushAll, sfidOf } from "../customer.ts";
import { END, loseLease, numbersTo } from "../cycles.ts";
import { aCustomerForEachTest, customer, sql } from "../world.ts";

/** What an application's writers notice of a pull: a page locks few of its rows at a time, and none that it does not write. */

aCustomerForEachTest();

const named = (name: string, count: number, seconds: number) =>
  numbersTo(count).map((number) => image(number, seconds, { lastname: `${name} ${number}`, email: null }));
const MARKED = { marks: { position: orgTime(60) } };
const position = async () => (await sql("SELECT position FROM salesforce._bridge_state"))[0]?.["position"];
const count = async (from: string) => (await sql(`SELECT count(*)::int AS n FROM salesforce.${from}`))[0]?.["n"];

/** Rows that both sides know, and that nothing waits of. */
async function known(rows: number) {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page(named("old", rows, 1), { lane: "load", marks: { position: orgTime(0) } }));
  await store.finish(lease, END);
  await sql("VACUUM salesforce.contact");
}

/** How many rows another session could not write now. */
async function countLocked(): Promise<number> {
  const [row] = await sql(
    `SELECT (SELECT count(*) FROM salesforce.contact) - (SELECT count(*) FROM (
       SELECT FROM salesforce.contact FOR NO KEY UPDATE SKIP LOCKED) AS free) AS locked`,
  );
  return Number(row?.["locked"]);
}

/** A cycle that says after each statement of a page how many rows it has locked. */
async function watched() {
  const locked: number[] = [];
  const cycle = await customer.cycle({ before: async () => void locked.push(await countLocked()) });
  return { ...cycle, locked };
}

test("a page of 450 changed rows never locks more than 200 of them", async () => {
  await known(450);
  const { store, lease, locked } = await watched();

  const applied = await store.apply(lease, page(named("new", 450, 2), MARKED));

  expect(applied).toMatchObject({ updated: 450, unchanged: 0 });
  expect(Math.max(...locked)).toBe(200);
  expect(await count("contact WHERE lastname NOT LIKE 'new %'")).toBe(0);
  expect(await position()).toEqual(orgTime(60));
});

test("a page of 450 deleted records never locks more than 200 rows, and all of it counts for the breaker", async () => {
  await customer.provision({ configVersion: 2, deleteLimit: "430" });
  await known(450);
  const { store, lease, locked } = await watched();

  const applied = await store.apply(lease, page(numbersTo(450).map((number) => image(number, 2, {}, true))));

  expect(applied).toMatchObject({ deleted: 430, heldDeletes: 20 });
  expect(Math.max(...locked)).toBeLessThanOrEqual(200);
  expect(await count("contact")).toBe(20);
});

test("450 rows that meet their records by the upsert field are locked in slices, too, and slices exchange values", async () => {
  await customer.provision({ configVersion: 2, upsertField: "Key__c" });
  await sql(
    "INSERT INTO salesforce.contact (key__c, lastname) SELECT 'K-' || n, 'new ' || n FROM generate_series(1, 450) n",
  );
  const { store, lease, locked } = await watched();
  const keyed = (key: (number: number) => string, seconds: number) =>
    numbersTo(450).map((number) => image(number, seconds, { key__c: key(number), lastname: `new ${number}` }));

  await store.apply(
    lease,
    page(
      keyed((number) => `K-${number}`, 2),
      { lane: "load" },
    ),
  );
  expect(Math.max(...locked)).toBe(200);
  expect(await count("contact WHERE sfid IS NOT NULL")).toBe(450);
  await pushAll({ store, lease }, () => null, orgTime(3));
  const swapped = (number: number) => `K-${number === 1 ? 450 : number === 450 ? 1 : number}`;
  const applied = await store.apply(lease, page(keyed(swapped, 4)));

  expect(applied).toMatchObject({ rejected: 0 });
  expect(
    await sql("SELECT sfid, key__c FROM salesforce.contact WHERE key__c IN ('K-1', 'K-450') ORDER BY sfid"),
  ).toEqual([
    { sfid: sfidOf(1), key__c: "K-450" },
    { sfid: sfidOf(450), key__c: "K-1" },
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
  const changed = page(named("new", 450, 2), { keepsHistory: true, ...MARKED });

  await expect(killed.store.apply(killed.lease, changed)).rejects.toThrow("killed");
  await killed.store.close();
  const before = [await count("contact WHERE lastname LIKE 'new %'"), await position()];
  await loseLease();
  const { store, lease } = await customer.cycle();
  const applied = await store.apply(lease, changed);

  expect(before).toEqual([400, orgTime(0)]);
  expect(applied).toMatchObject({ updated: 50, unchanged: 400 });
  expect(await position()).toEqual(orgTime(60));
  expect(await sql("SELECT count(*)::int AS n FROM salesforce._bridge_history GROUP BY record_id")).toEqual(
    Array(450).fill({ n: 1 }),
  );
});

test("a row that refers to a record which a later slice of the page brings arrives with it", async () => {
  await sql(`CREATE UNIQUE INDEX ON salesforce.contact (key__c);
    ALTER TABLE salesforce.contact ADD CONSTRAINT leads FOREIGN KEY (email) REFERENCES salesforce.contact (key__c) DEFERRABLE INITIALLY DEFERRED`);
  await known(250);
  const { store, lease } = await customer.cycle();
  const led = named("new", 250, 2).map((one) => ({ ...one, values: { ...one.values, email: "the lead" } }));

  const applied = await store.apply(lease, page([...led, image(900, 2, { key__c: "the lead", lastname: "Lead" })]));

  expect(applied).toMatchObject({ updated: 250, inserted: 1, rejected: 0 });
  expect(await count("_bridge_inbound_errors")).toBe(0);
});

const SAME = { lastname: "old 1", email: null };
const EMAIL = "UPDATE salesforce.contact SET email = 'mine@example.com'";
const THERE_AND_BACK = "UPDATE salesforce.contact SET lastname = 'x'; UPDATE salesforce.contact SET lastname = 'old 1'";
const HELD = `INSERT INTO salesforce._bridge_held_deletes (mapping_id, sfid, stamp, read_at, held_at)
  VALUES ('map_contact', '${sfidOf(1)}', now(), now(), now())`;
const REFUSED = `INSERT INTO salesforce._bridge_inbound_errors (mapping_id, sfid, error, first_at, last_at)
  VALUES ('map_contact', '${sfidOf(1)}', 'refused', now(), now())`;

// A row whose record comes again with the stamp that it has. PostgreSQL writes the lock of a row into it.
test.each([
  { says: "nothing new", locks: false, first: "SELECT" },
  { says: "another value of the same second", locks: true, values: { ...SAME, lastname: "new" }, first: "SELECT" },
  { says: "nothing new, and a change of the row waits", locks: true, first: EMAIL },
  { says: "nothing new, and a change of the row waits that says the same", locks: true, first: THERE_AND_BACK },
  { says: "nothing new, and its deletion is held", locks: true, first: HELD },
  { says: "nothing new, and it could not be applied before", locks: true, first: REFUSED },
])("a record that comes again with $says: is its row locked? $locks", async ({ locks, values = SAME, first }) => {
  await known(1);
  await sql(first);
  const { store, lease, locked } = await watched();

  const applied = await store.apply(lease, page([image(1, 1, values)], MARKED));

  expect(Math.max(...locked)).toBe(locks ? 1 : 0);
  expect(applied).toMatchObject({ updated: values.lastname === "new" ? 1 : 0, rejected: 0 });
  expect(await position()).toEqual(orgTime(60));
  expect([await count("_bridge_held_deletes"), await count("_bridge_inbound_errors")]).toEqual([0, 0]);
});

test("a row without a zone in its stamp is not locked for what it shows already", async () => {
  await sql(
    "ALTER TABLE salesforce.contact ALTER COLUMN systemmodstamp TYPE timestamp USING systemmodstamp AT TIME ZONE 'UTC'",
  );
  await customer.provision({ configVersion: 2 });
  await sql(
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Asia/Tokyo''', current_database()); END $$",
  );
  await known(1);
  const { store, lease, locked } = await watched();

  const applied = await store.apply(lease, page([image(1, 1, SAME)]));

  expect(Math.max(...locked)).toBe(0);
  expect(applied).toMatchObject({ updated: 0, unchanged: 1 });
});

const WRITES = ["UPDATE salesforce.contact SET email = 'user@example.com'", "DELETE FROM salesforce.contact"];

test.each([0, 1, 2, 3, 4].flatMap((step) => WRITES.map((statement) => ({ step, statement }))))(
  "what the application writes at statement $step of a page with nothing new stays, and is sent: $statement",
  async ({ step, statement }) => {
    await known(1);
    let statements = 0;
    const { store, lease } = await customer.cycle({
      before: async () => {
        if (statements++ === step) await sql(statement);
      },
    });

    await store.apply(lease, page([image(1, 1, SAME)], MARKED));
    if (statements <= step) await sql(statement);
    const sent = await pushAll({ store, lease }, () => null, orgTime(70));

    expect(await sql("SELECT lastname, email FROM salesforce.contact")).toEqual(
      statement.startsWith("DELETE") ? [] : [{ lastname: "old 1", email: "user@example.com" }],
    );
    expect(sent).toMatchObject([{ action: statement.slice(0, 6), sfid: sfidOf(1) }]);
  },
);
