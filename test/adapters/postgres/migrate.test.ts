import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../../../lib/adapters/postgres/migrate.ts";
import { MIGRATIONS } from "../../../lib/adapters/postgres/migrations.ts";
import { postgresMonitoring } from "../../../lib/adapters/postgres/monitoring.ts";
import { createProvisioner } from "../../../lib/adapters/postgres/provision.ts";
import { openSession } from "../../../lib/adapters/postgres/session.ts";
import { mappingOf } from "../../support/worlds/shapes.ts";
import { type Customer, createCustomer, untilSomebodyWaits } from "./customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

/** What a later version might bring: nothing in it could be done twice. */
const LATER: typeof MIGRATIONS = [
  ...MIGRATIONS,
  (_, { log }) => `ALTER TABLE ${log} ADD COLUMN later text; CREATE INDEX later_idx ON ${log} (later);`,
  (schema) => `CREATE TABLE ${schema}._bridge_later (id int PRIMARY KEY);`,
];

test("a schema moves on to a later version once, whoever asks for it, while cycles run and rows are written", async () => {
  const stop = new AbortController();
  const cycling = cyclesUntil(stop.signal);
  const writing = writesUntil(stop.signal);

  await Promise.all([1, 2, 3].map(() => migrateTo(LATER)));
  await migrateTo(LATER);
  stop.abort();

  expect(await cycling).toBeGreaterThan(0);
  const written = await writing;
  expect(await versionOf()).toBe(LATER.length);
  expect(await customer.sql("SELECT FROM salesforce._bridge_later")).toEqual([]);
  expect(await customer.sql("SELECT count(*)::int AS captured FROM salesforce._trigger_log")).toEqual([
    { captured: written },
  ]);
});

test("a version that breaks off leaves the schema as it was, and is made whole by the next try", async () => {
  const broken: typeof MIGRATIONS = [...LATER, () => "SELECT 1 / 0"];

  await expect(migrateTo(broken)).rejects.toThrow("division by zero");

  expect(await versionOf()).toBe(MIGRATIONS.length);
  expect(await customer.sql("SELECT to_regclass('salesforce._bridge_later') IS NULL AS gone")).toEqual([
    { gone: true },
  ]);
  await migrateTo(LATER);
  expect(await versionOf()).toBe(LATER.length);
});

test("a schema of a newer version is refused with the remedy, and cycles of the older one go on in it", async () => {
  await migrateTo(LATER);

  await expect(customer.provision()).rejects.toThrow("update this installation");
  await createProvisioner({ url: customer.url, schema: "salesforce" }, () => customer.now).migrate(
    mappingOf(customer.shape),
  );

  const { store, lease } = await customer.cycle();
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  expect(await versionOf()).toBe(LATER.length);
});

test("a schema of the first version does without a count of its cycles, and has one after the daily look", async () => {
  await customer.sql("DROP TABLE salesforce._bridge_cycles");
  await customer.sql("UPDATE salesforce._bridge_meta SET schema_version = 1");
  const stop = new AbortController();
  const cycling = cyclesUntil(stop.signal);

  await migrateTo(MIGRATIONS);
  stop.abort();

  expect(await cycling).toBeGreaterThan(0);
  const { store, lease } = await customer.cycle();
  const count = { ended: "well", pulled: 2, accepted: 0, refused: 0 } as const;
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null, count });
  expect(await customer.sql("SELECT well, pulled FROM salesforce._bridge_cycles")).toMatchObject([{ pulled: 2 }]);
});

/** Whether the log can be read in its order; null: it has no such index. */
async function readsInOrder(): Promise<unknown> {
  const [index] = await customer.sql(
    "SELECT (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('salesforce._bridge_log_waiting_in_order')) AS valid",
  );
  return index?.["valid"];
}

test("a log that holds changes gets the index of its order from the daily look, beside its writers", async () => {
  expect(await readsInOrder()).toBe(true);
  await customer.sql("DROP INDEX salesforce._bridge_log_waiting_in_order");
  await customer.sql("UPDATE salesforce._bridge_meta SET schema_version = 4");
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await migrateTo(MIGRATIONS);
  expect(await readsInOrder()).toBe(null);
  const { indexLog } = createProvisioner({ url: customer.url, schema: "salesforce" }, () => customer.now);
  // Building waits for transactions that have written; who writes does not wait for the building.
  const writer = await customer.connect();
  await writer.query("BEGIN");
  await writer.query("INSERT INTO salesforce.contact (lastname) VALUES ('Uncommitted')");

  const building = indexLog(mappingOf(customer.shape));
  await untilSomebodyWaits(customer.application);
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Written meanwhile')");
  await indexLog(mappingOf(customer.shape)); // what is being built is left alone
  await writer.query("COMMIT");
  await building;

  expect(await readsInOrder()).toBe(true);
  expect(await claimed()).toBe(3);
});

test("an index whose building broke off is made anew, and one that is there is left alone", async () => {
  const { indexLog } = createProvisioner({ url: customer.url, schema: "salesforce" }, () => customer.now);
  const oid = "SELECT 'salesforce._bridge_log_waiting_in_order'::regclass::oid::int AS oid";
  const [first] = await customer.sql(oid);
  await indexLog(mappingOf(customer.shape));
  expect(await customer.sql(oid)).toEqual([first]);
  await customer.sql("UPDATE pg_index SET indisvalid = false WHERE indexrelid = $1", [first?.["oid"]]);

  await indexLog(mappingOf(customer.shape));
  expect(await readsInOrder(), "it goes with one look and comes with the next").toBe(null);
  await indexLog(mappingOf(customer.shape));

  expect(await readsInOrder()).toBe(true);
  expect(await customer.sql(oid)).not.toEqual([first]);
});

test("a log that does not tell yet what was taken out of it is read exactly, and tells it once no writer is in the way", async () => {
  await customer.sql("DROP FUNCTION salesforce._bridge_log_pruned CASCADE");
  await customer.sql("ALTER TABLE salesforce._bridge_totals DROP COLUMN pruned_to");
  await customer.sql("UPDATE salesforce._bridge_meta SET schema_version = 7");
  await customer.sql("INSERT INTO salesforce._bridge_totals (table_name) VALUES ('contact') ON CONFLICT DO NOTHING");
  await customer.sql(`
    INSERT INTO salesforce._trigger_log (action, table_name, record_id)
    SELECT 'UPDATE', 'contact', n FROM generate_series(1, 20000) AS n`);
  const { indexLog } = createProvisioner({ url: customer.url, schema: "salesforce" }, () => customer.now);
  const tells = async () => (await customer.sql("SELECT FROM pg_trigger WHERE tgname = '_bridge_pruned'")).length === 1;
  const monitoring = postgresMonitoring(() => customer.now);
  const firstOfPage = async () => {
    await using database = await monitoring.open({ url: customer.url, schema: "salesforce" });
    const { rows } = await database.listActivity({ state: null, table: null, limit: 1, offset: 9_000 });
    return Number((JSON.parse(rows.text) as { readonly id: number }[])[0]?.id);
  };
  const isExactWhenOneIsTakenOut = async () => {
    await firstOfPage();
    await firstOfPage();
    const before = await firstOfPage();
    await customer.sql(
      "DELETE FROM salesforce._trigger_log WHERE id = (SELECT min(id) FROM salesforce._trigger_log WHERE id > $1)",
      [before + 100],
    );
    return (await firstOfPage()) === before - 1;
  };

  expect(await isExactWhenOneIsTakenOut()).toBe(true);
  const writer = await customer.connect();
  await writer.query("BEGIN");
  await writer.query("INSERT INTO salesforce.contact (lastname) VALUES ('Uncommitted')");
  await migrateTo(MIGRATIONS);
  await expect(indexLog(mappingOf(customer.shape))).rejects.toThrow("lock timeout");
  expect([await versionOf(), await tells(), await isExactWhenOneIsTakenOut()]).toEqual([
    MIGRATIONS.length,
    false,
    true,
  ]);
  await writer.query("COMMIT");

  await indexLog(mappingOf(customer.shape));

  expect(await tells()).toBe(true);
  await indexLog(mappingOf(customer.shape));
  expect(await isExactWhenOneIsTakenOut()).toBe(true);
});

test("the index that an earlier version made of all that succeeded goes with the daily look, beside its writers", async () => {
  const { indexLog } = createProvisioner({ url: customer.url, schema: "salesforce" }, () => customer.now);
  const unused = "SELECT to_regclass('salesforce._bridge_log_all_successes') IS NOT NULL AS there";
  expect(await customer.sql(unused)).toEqual([{ there: false }]);
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await customer.sql(
    "CREATE INDEX _bridge_log_all_successes ON salesforce._trigger_log (id) WHERE processed_at IS NOT NULL",
  );
  await customer.sql("UPDATE salesforce._bridge_meta SET schema_version = 6");
  const writer = await customer.connect();
  await writer.query("BEGIN");
  await writer.query("INSERT INTO salesforce.contact (lastname) VALUES ('Uncommitted')");

  await migrateTo(MIGRATIONS);
  const whenMigrated = await customer.sql(unused);
  const looking = indexLog(mappingOf(customer.shape));
  await untilSomebodyWaits(customer.application);
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Written meanwhile')");
  await writer.query("COMMIT");
  await looking;

  expect(whenMigrated).toEqual([{ there: true }]);
  expect(await customer.sql(unused)).toEqual([{ there: false }]);
  expect(await claimed()).toBe(3);
});

test("changes are claimed without the index, too", async () => {
  await customer.sql("DROP INDEX salesforce._bridge_log_waiting_in_order");
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Curie' FROM generate_series(1, 20)");

  expect(await claimed()).toBe(20);
});

/** How many changes a claim finds. */
async function claimed(): Promise<number> {
  const { store, lease } = await customer.cycle();
  return (await store.claim(lease, 100)).length;
}

async function migrateTo(migrations: typeof MIGRATIONS): Promise<void> {
  const session = await openSession({ url: customer.url, schema: "salesforce" });
  try {
    await migrate(session, "salesforce", mappingOf(customer.shape).workspaceId, { migrations });
  } finally {
    await session.close();
  }
}

async function versionOf(): Promise<unknown> {
  return (await customer.sql("SELECT schema_version FROM salesforce._bridge_meta"))[0]?.["schema_version"];
}

/** Begins, renews and ends cycles one after the other; gives how many. */
async function cyclesUntil(signal: AbortSignal): Promise<number> {
  for (let cycles = 1; ; cycles += 1) {
    const { store, lease } = await customer.cycle();
    expect(await store.renew(lease, 30)).toBe("held");
    const count = { ended: "well", pulled: 0, accepted: 0, refused: 0 } as const;
    await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null, count });
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
