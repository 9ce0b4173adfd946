import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrate } from "../../../../lib/adapters/postgres/schema/migrate.ts";
import { FIRST_VERSION, MIGRATIONS } from "../../../../lib/adapters/postgres/schema/migrations.ts";
import { openSession } from "../../../../lib/adapters/postgres/session/session.ts";
import { mappingOf } from "../../../support/worlds/shapes.ts";
import type { Customer } from "../customer.ts";
import { END } from "../cycles.ts";
import { aCustomer, aCustomerForEachTest, customer, dailyCheck, sql } from "../world.ts";

aCustomerForEachTest();

const NEWEST = FIRST_VERSION - 1 + MIGRATIONS.length;

/** What a later version might bring: nothing in it could be done twice. */
const LATER: typeof MIGRATIONS = [
  ...MIGRATIONS,
  (_, { log }) => `ALTER TABLE ${log} ADD COLUMN later text; CREATE INDEX later_idx ON ${log} (later);`,
  (schema) => `CREATE TABLE ${schema}._bridge_later (id int PRIMARY KEY);`,
];

test("a schema moves to a later version once, however many processes ask for it, while cycles run and rows are written", async () => {
  const stop = new AbortController();
  const cycling = cyclesUntil(stop.signal);
  const writing = writesUntil(stop.signal);

  await Promise.all([1, 2, 3].map(() => migrateTo(LATER)));
  await migrateTo(LATER);
  stop.abort();

  expect(await cycling).toBeGreaterThan(0);
  const written = await writing;
  expect(await versionOf()).toBe(NEWEST + 2);
  expect(await sql("SELECT FROM salesforce._bridge_later")).toEqual([]);
  expect(await sql("SELECT count(*)::int AS captured FROM salesforce._trigger_log")).toEqual([{ captured: written }]);
});

test("a version that breaks off leaves the schema as it was, and is completed by the next try", async () => {
  const broken: typeof MIGRATIONS = [...LATER, () => "SELECT 1 / 0"];

  await expect(migrateTo(broken)).rejects.toThrow("division by zero");

  expect(await versionOf()).toBe(NEWEST);
  expect(await sql("SELECT to_regclass('salesforce._bridge_later') IS NULL AS gone")).toEqual([{ gone: true }]);
  await migrateTo(LATER);
  expect(await versionOf()).toBe(NEWEST + 2);
});

test("a schema that is two versions newer is refused with the remedy, one of the next version is not, and cycles continue in either", async () => {
  for (const [versions, configVersion] of [
    [1, 2],
    [2, 3],
  ] as const) {
    await migrateTo(LATER.slice(0, MIGRATIONS.length + versions));

    const provisioned = customer.provision({ configVersion });
    await (versions === 1 ? provisioned : expect(provisioned).rejects.toThrow("update this installation"));
    await dailyCheck();

    const { store, lease } = await customer.cycle();
    await store.finish(lease, END);
    expect(await versionOf()).toBe(NEWEST + versions);
  }
});

/** The schema as the released versions made it, frozen. */
const RELEASED = readFileSync(join(import.meta.dirname, "../../../contracts/released-1-schema.sql"), "utf8");

test("a schema of the released version is the same as a new one after one check", async () => {
  await aCustomer({ provisioned: false });
  const released = customer;
  await aCustomer({ provisioned: false });
  const fresh = customer;
  await released.sql(RELEASED);
  expect(await hasTrigger(released)).toBe(true);

  for (const each of [released, fresh]) await migrateTo(MIGRATIONS, each);

  expect(await hasTrigger(released)).toBe(false);
  expect(await catalogOf(released)).toEqual(await catalogOf(fresh));
  expect(await versionOf(released)).toBe(NEWEST);
});

const hasTrigger = async ({ sql }: Customer): Promise<boolean> =>
  (await sql("SELECT FROM pg_trigger WHERE tgname = '_bridge_pruned'")).length === 1;

/** Everything in the schema that a migration makes. */
const catalogOf = ({ sql }: Customer) =>
  sql(`
    SELECT 'relation ' || c.relname AS what, concat_ws(' ', c.relkind, c.reloptions, obj_description(c.oid), CASE c.relkind WHEN 'v' THEN pg_get_viewdef(c.oid) END) AS is
    FROM pg_class c WHERE c.relnamespace = 'salesforce'::regnamespace
    UNION ALL SELECT 'column ' || a.attrelid::regclass || '.' || a.attname,
      concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attstorage, a.attcollation::regcollation,
        pg_get_expr(d.adbin, d.adrelid), col_description(a.attrelid, a.attnum))
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'salesforce'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL SELECT 'index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'salesforce'::regnamespace
    UNION ALL SELECT 'constraint ' || conname, replace(pg_get_constraintdef(oid), ' NOT VALID', '')
    FROM pg_constraint WHERE connamespace = 'salesforce'::regnamespace
    UNION ALL SELECT 'function ' || proname, pg_get_functiondef(oid) || coalesce(proacl::text, '')
    FROM pg_proc WHERE pronamespace = 'salesforce'::regnamespace
    UNION ALL SELECT 'trigger ' || tgrelid::regclass || '.' || tgname, pg_get_triggerdef(t.oid)
    FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE c.relnamespace = 'salesforce'::regnamespace AND NOT tgisinternal
    ORDER BY 1`);

async function migrateTo(migrations: typeof MIGRATIONS, { url } = customer): Promise<void> {
  const session = await openSession({ url, schema: "salesforce" });
  try {
    await migrate(session, "salesforce", mappingOf(customer.shape).workspaceId, { migrations });
  } finally {
    await session.close();
  }
}

async function versionOf({ sql } = customer): Promise<unknown> {
  return (await sql("SELECT schema_version FROM salesforce._bridge_meta"))[0]?.["schema_version"];
}

/** Begins, renews and ends cycles one after the other; gives how many. */
async function cyclesUntil(signal: AbortSignal): Promise<number> {
  for (let cycles = 1; ; cycles += 1) {
    const { store, lease } = await customer.cycle();
    expect(await store.renew(lease, 30)).toBe("held");
    const count = { ended: "well", pulled: 0, accepted: 0, refused: 0 } as const;
    await store.finish(lease, { ...END, count });
    await store.close();
    if (signal.aborted) return cycles;
  }
}

/** Inserts rows as an application does; gives how many. */
async function writesUntil(signal: AbortSignal): Promise<number> {
  const application = await customer.connect();
  for (let rows = 1; ; rows += 1) {
    await application.query("INSERT INTO salesforce.contact (lastname) VALUES ('Written meanwhile')");
    if (signal.aborted) return rows;
  }
}
