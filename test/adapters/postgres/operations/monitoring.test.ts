import { escapeLiteral } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { postgresMonitoring } from "../../../../lib/adapters/postgres/operations/monitoring.ts";
import { activityRow, errorRow } from "../../../../lib/http/contract.ts";
import { STATES } from "../../../../lib/model/change/change.ts";
import type { Page } from "../../../../lib/model/page.ts";
import { DatabaseUnavailable, type MonitoredDatabase } from "../../../../lib/monitoring/ports.ts";
import { isWholeGrid } from "../../../support/run/whole-grid.ts";
import { createTestDatabase } from "../../../support/worlds/postgres.ts";
import { type Customer, createCustomer, forgetReads, rowsReadOfTheLog } from "../customer.ts";

const monitoring = postgresMonitoring(() => new Date());

async function asking<Answer>(url: string, ask: (database: MonitoredDatabase) => Promise<Answer>): Promise<Answer> {
  const database = await monitoring.open({ url, schema: "salesforce" });
  return await ask(database);
}

const activityOf = (page: Page<unknown>) => z.array(activityRow).parse(page.rows);
const idsOf = (page: Page<unknown>): number[] => activityOf(page).map(({ id }) => id);

describe("the trigger log", () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await createCustomer();
    // 40 changes of two tables in all four states, settled ones counted as the cycles count them.
    await customer.sql(`
      INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, sfid, last_operation, sf_message, processed_at)
      SELECT state, 'UPDATE', CASE WHEN n % 3 = 0 THEN 'account' ELSE 'contact' END, n, 'sf' || n,
        CASE state WHEN 'SUCCESS' THEN 'UPDATED' WHEN 'FAILED' THEN 'FAILED' END,
        CASE state WHEN 'FAILED' THEN 'REQUIRED_FIELD_MISSING: no name [Name]' END,
        CASE WHEN state IN ('SUCCESS', 'FAILED') THEN now() END
      FROM (SELECT n, (ARRAY['NEW', 'PENDING', 'SUCCESS', 'FAILED', 'SUCCESS'])[1 + n % 5] AS state
            FROM generate_series(1, 40) AS n) AS changes ORDER BY n`);
    await customer.sql(`
      INSERT INTO salesforce._bridge_totals (table_name, success, failed)
      SELECT table_name, count(*) FILTER (WHERE state = 'SUCCESS'), count(*) FILTER (WHERE state = 'FAILED')
      FROM salesforce._trigger_log GROUP BY table_name`);
    await customer.sql(`
      INSERT INTO salesforce._bridge_in_hand (id, table_name, ids)
      SELECT table_name, table_name, array_agg(id) FROM salesforce._trigger_log WHERE state = 'PENDING' GROUP BY table_name`);
  });
  afterAll(() => customer.close());

  test("is listed newest first with the exact total, under every filter and at every offset", async () => {
    const all = await customer.sql("SELECT id, state, table_name FROM salesforce._trigger_log ORDER BY id DESC");

    for (const state of [null, ...STATES]) {
      for (const table of [null, "contact", "account", "nothing", "x' OR true --"]) {
        const wanted = all
          .filter(
            (row) => (state === null || row["state"] === state) && (table === null || row["table_name"] === table),
          )
          .map((row) => Number(row["id"]));
        for (const [limit, offset] of [
          [5, 0],
          [4, 3],
          [200, 0],
          [5, 1000],
        ] as const) {
          const page = await asking(customer.url, (database) => database.listActivity({ state, table, limit, offset }));
          expect({ total: page.total, ids: idsOf(page) }).toEqual({
            total: wanted.length,
            ids: wanted.slice(offset, offset + limit),
          });
        }
      }
    }
  });

  test("shows the result of each row", async () => {
    const page = await asking(customer.url, (database) =>
      database.listActivity({ state: null, table: null, limit: 200, offset: 0 }),
    );

    for (const { state, _ab_lastop, synced_at, created_at } of activityOf(page)) {
      expect(Date.parse(created_at)).toBeCloseTo(Date.now(), -6);
      expect(synced_at !== null).toBe(state === "SUCCESS");
      expect(_ab_lastop).toBe({ NEW: "PENDING", PENDING: "PENDING", SUCCESS: "UPDATED", FAILED: "FAILED" }[state]);
    }
  });

  test("is written exactly as JSON.stringify writes it, its times cut to milliseconds", async () => {
    const message = `"quoted" \\ / \b\f\n\r\t\u0001\u001f\u007f é ☃ 😀 \u2028 "created_at":"2024-02-29T00:00:00"`;
    await customer.sql(`
      BEGIN;
      INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, last_operation, sf_message, created_at, processed_at)
      VALUES ('FAILED', 'INSERT', 'odd "table"', 1, 'FAILED', ${escapeLiteral(message)}, '2024-02-29 23:59:59.999999+01', now());
      COMMIT`);
    const asked = { table: 'odd "table"', limit: 10, offset: 0 };

    const page = await asking(customer.url, (database) => database.listErrors(asked));

    const [row] = z.array(z.strictObject(errorRow.shape)).parse(page.rows);
    expect(row).toMatchObject({ sfid: null, table_name: asked.table, _ab_err: message });
    expect(row?.created_at).toBe("2024-02-29T22:59:59.999Z");
  });

  test.each([
    ["2024-03-10 12:00:00+00", "2024-03-10T12:00:00.000Z"],
    ["2024-03-10 12:00:00.5+00", "2024-03-10T12:00:00.500Z"],
    ["2024-03-10 12:00:00.0049+00", "2024-03-10T12:00:00.004Z"],
    ["2024-03-10 12:00:00.12+02", "2024-03-10T10:00:00.120Z"],
  ])("shows %s as %s", async (instant, shown) => {
    await customer.sql(`
      INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, created_at, processed_at)
      VALUES ('SUCCESS', 'INSERT', 'at ${instant}', 1, '${instant}', '${instant}')`);
    const asked = { state: null, table: `at ${instant}`, limit: 10, offset: 0 };

    const page = await asking(customer.url, (database) => database.listActivity(asked));

    expect(activityOf(page)).toMatchObject([{ created_at: shown, synced_at: shown }]);
    await customer.sql(`DELETE FROM salesforce._trigger_log WHERE table_name = 'at ${instant}'`);
  });

  test("lists failed rows with their error", async () => {
    const page = await asking(customer.url, (database) =>
      database.listErrors({ table: "account", limit: 1, offset: 0 }),
    );

    expect(page.total).toBe(3);
    expect(page.rows).toEqual([
      expect.objectContaining({
        state: "FAILED",
        table_name: "account",
        _ab_err: "REQUIRED_FIELD_MISSING: no name [Name]",
      }),
    ]);
  });

  test("counts what waits", async () => {
    expect(await asking(customer.url, (database) => database.check())).toMatchObject({ waitingRows: 16 });
  });
});

describe("a long trigger log", () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await createCustomer();
    await customer.sql(`
      INSERT INTO salesforce._trigger_log (state, last_operation, action, table_name, record_id, processed_at)
      SELECT (ARRAY['NEW', 'SUCCESS', 'FAILED'])[1 + n % 3], (ARRAY[NULL, 'UPDATED', 'FAILED'])[1 + n % 3], 'UPDATE', CASE WHEN n % 2 = 0 THEN 'account' ELSE 'contact' END,
        n, CASE WHEN n % 3 > 0 THEN now() END
      FROM generate_series(1, ${isWholeGrid ? 60_000 : 18_000}) AS n ORDER BY n`);
    await customer.sql(`
      INSERT INTO salesforce._bridge_totals (table_name, success, failed)
      SELECT table_name, count(*) FILTER (WHERE state = 'SUCCESS'), count(*) FILTER (WHERE state = 'FAILED')
      FROM salesforce._trigger_log GROUP BY table_name`);
  });
  afterAll(() => customer.close());

  test("is listed from whichever end is nearer, and the pages are the same", async () => {
    for (const [state, table] of [
      [null, null],
      ["SUCCESS", null],
      ["NEW", "contact"],
      [null, "account"],
    ] as const) {
      const conditions = [state && `state = '${state}'`, table && `table_name = '${table}'`].filter((part) => part);
      const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
      const all = await customer.sql(`SELECT id FROM salesforce._trigger_log ${where} ORDER BY id DESC`);
      const ids = all.map(({ id }) => Number(id));

      for (const offset of [
        4999,
        5000,
        ids.length / 2,
        ids.length / 2 + 1,
        ids.length - 7,
        ids.length - 1,
        ids.length,
        99_999,
      ]) {
        const page = await asking(customer.url, (database) =>
          database.listActivity({ state, table, limit: 10, offset }),
        );
        expect({ offset, total: page.total, ids: idsOf(page) }).toEqual({
          offset,
          total: ids.length,
          ids: ids.slice(offset, offset + 10),
        });
      }
    }
  });
});

test("a page of all that succeeded reads no more of the log than lies before its end, however much waits", async () => {
  const many = isWholeGrid ? 20_000 : 5_000;
  const customer = await createCustomer();
  await customer.sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");
  await customer.sql(
    `INSERT INTO salesforce._trigger_log (state, last_operation, action, table_name, record_id, processed_at)
     SELECT 'SUCCESS', 'UPDATED', 'UPDATE', 'table_' || n % 2, n, now() FROM generate_series(1, $1::int) AS n ORDER BY n`,
    [many],
  );
  await customer.sql(
    "INSERT INTO salesforce._bridge_totals (table_name, success) VALUES ('table_0', $1::int / 2), ('table_1', $1::int / 2)",
    [many],
  );
  await customer.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id)
     SELECT 'UPDATE', 'table_0', n FROM generate_series(1, $1::int) AS n`,
    [many],
  );
  for (const statistics of ["none", "all"]) {
    if (statistics === "all") await customer.sql("ANALYZE salesforce._trigger_log");
    await forgetReads(customer);

    const asked = { state: "SUCCESS", table: null, limit: 10, offset: 20 } as const;
    const page = await asking(customer.url, (database) => database.listActivity(asked));
    await customer.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'bridge'",
    );

    expect(page.total).toBe(many);
    expect(idsOf(page)).toEqual(Array.from({ length: 10 }, (_, place) => many - 20 - place));
    expect(await rowsReadOfTheLog(customer), `with statistics: ${statistics}`).toBeLessThan(150);
  }
  await customer.close();
});

describe("a running cycle", () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await createCustomer();
  });
  afterAll(() => customer.close());

  test("is seen, can be asked to stop, and is not asked when it is not there", async () => {
    const { mappingId } = customer.shape;
    const isRunning = () =>
      asking(customer.url, (database) => database.leaseOf(mappingId).then((lease) => lease?.isHeld ?? false));
    const abort = () => asking(customer.url, (database) => database.requestAbort(mappingId, new Date()));
    expect([await isRunning(), await abort()]).toEqual([false, false]);

    const { store, lease } = await customer.cycle();

    expect(await isRunning()).toBe(true);
    expect(await store.renew(lease, 30)).toBe("held");
    expect(await abort()).toBe(true);
    expect(await abort()).toBe(true);
    expect(await store.renew(lease, 30)).toBe("aborted");
    await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
    expect([await isRunning(), await abort()]).toEqual([false, false]);
    expect(await asking(customer.url, (database) => database.check())).toMatchObject({ lastRunAt: customer.now });
  });

  test("of another mapping is not touched", async () => {
    await customer.cycle();

    expect(await asking(customer.url, (database) => database.requestAbort("map_other", new Date()))).toBe(false);
    expect(await asking(customer.url, (database) => database.leaseOf("map_other"))).toBeNull();
  });
});

test("a schema in which nothing was provisioned yet answers like an empty one", async () => {
  const database = await createTestDatabase();

  const seen = await asking(database.url, async (asked) => [
    await asked.listActivity({ state: null, table: null, limit: 50, offset: 0 }),
    await asked.listErrors({ table: "contact", limit: 50, offset: 0 }),
    await asked.check(),
    await asked.leaseOf("map_1"),
    await asked.requestAbort("map_1", new Date()),
  ]);

  expect(seen).toEqual([
    { rows: [], total: 0 },
    { rows: [], total: 0 },
    { latencyMilliseconds: expect.any(Number), lastRunAt: null, waitingRows: 0, backlogs: [] },
    null,
    false,
  ]);
  await database.close();
});

describe("a database that cannot be asked", () => {
  test.each([
    [
      "nothing listens",
      (url: URL) => Object.assign(url, { port: "1" }),
      "no server listens at this host and port (ECONNREFUSED)",
    ],
    [
      "the password is wrong",
      (url: URL) => Object.assign(url, { password: "wrong" }),
      "the database refuses this user and password (28P01)",
    ],
    [
      "it does not exist",
      (url: URL) => Object.assign(url, { pathname: "/none" }),
      "the server has no database of this name (3D000)",
    ],
  ])("because %s is reported by the class of the trouble, without a credential", async (_, change, message) => {
    const database = await createTestDatabase();
    const url = change(new URL(database.url)).href;

    const refusal = await asking(url, (asked) => asked.check()).catch((error: unknown) => error);

    expect(refusal).toBeInstanceOf(DatabaseUnavailable);
    expect(refusal).toMatchObject({ stage: "connect", message });
    await database.close();
  });

  test("because it closed the kept connection meanwhile is replaced by another", async () => {
    const customer = await createCustomer();
    await asking(customer.url, (database) => database.check());
    await customer.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );

    expect(await asking(customer.url, (database) => database.check())).toMatchObject({ waitingRows: 0 });
    await customer.close();
  });
});
