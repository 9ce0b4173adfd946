import { escapeLiteral } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { postgresMonitoring } from "../../../../lib/adapters/postgres/operations/monitoring.ts";
import { activityRow, errorRow } from "../../../../lib/http/contract.ts";
import type { Page } from "../../../../lib/model/page.ts";
import { DatabaseUnavailable } from "../../../../lib/monitoring/ports.ts";
import { createTestDatabase } from "../../../support/worlds/postgres.ts";
import { type Customer, createCustomer, endKeptSessions } from "../customer.ts";
import { END } from "../cycles.ts";
import { aCustomer, customer, insertMany, sql } from "../world.ts";

const monitored = (url = customer.url) => postgresMonitoring(() => new Date()).open({ url, schema: "salesforce" });
const activityOf = (page: Page<unknown>) => z.array(activityRow).parse(page.rows);
const idsOf = (page: Page<unknown>): number[] => activityOf(page).map(({ id }) => id);

test("a change is written exactly as JSON.stringify writes it, its times cut to milliseconds", async () => {
  await aCustomer();
  const message = `"quoted" \\ / \b\f\n\r\t\u0001\u001f\u007f é ☃ 😀 \u2028 "created_at":"2024-02-29T00:00:00"`;
  const instants = [
    ["2024-03-10 12:00:00+00", "2024-03-10T12:00:00.000Z"],
    ["2024-03-10 12:00:00.5+00", "2024-03-10T12:00:00.500Z"],
    ["2024-03-10 12:00:00.0049+00", "2024-03-10T12:00:00.004Z"],
    ["2024-03-10 12:00:00.12+02", "2024-03-10T10:00:00.120Z"],
    ["2024-02-29 23:59:59.999999+01", "2024-02-29T22:59:59.999Z"],
  ] as const;
  for (const [instant] of instants)
    await sql(`
      INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, last_operation, created_at, processed_at)
      VALUES ('SUCCESS', 'INSERT', 'contact', 1, 'INSERTED', '${instant}', '${instant}')`);
  await sql(`
    INSERT INTO salesforce._trigger_log (state, action, table_name, record_id, last_operation, sf_message, processed_at)
    VALUES ('FAILED', 'INSERT', 'odd "table"', 1, 'FAILED', ${escapeLiteral(message)}, now())`);
  const asked = { limit: 10, offset: 0 };

  const database = await monitored();
  const errors = await database.listErrors({ ...asked, table: 'odd "table"' });
  const activity = await database.listActivity({ ...asked, table: "contact", state: null });

  const failed = await database.listActivity({ ...asked, table: 'odd "table"', state: "FAILED" });
  expect(activityOf(failed)).toMatchObject([{ synced_at: null, _ab_lastop: "FAILED" }]);
  const [row] = z.array(z.strictObject(errorRow.shape)).parse(errors.rows);
  expect(row).toMatchObject({ sfid: null, table_name: 'odd "table"', _ab_err: message });
  expect(activityOf(activity).map((one) => [one.created_at, one.synced_at])).toEqual(
    instants.map(([, shown]) => [shown, shown]).toReversed(),
  );
});

describe("a long trigger log", () => {
  let filled: Customer;
  beforeAll(async () => {
    filled = await createCustomer();
    await filled.sql(`
      INSERT INTO salesforce._trigger_log (state, last_operation, action, table_name, record_id, processed_at)
      SELECT (ARRAY['NEW', 'SUCCESS', 'FAILED'])[1 + n % 3], (ARRAY[NULL, 'UPDATED', 'FAILED'])[1 + n % 3], 'UPDATE', CASE WHEN n % 2 = 0 THEN 'account' ELSE 'contact' END,
        n, CASE WHEN n % 3 > 0 THEN now() END
      FROM generate_series(1, 18000) AS n ORDER BY n`);
    await filled.sql(`INSERT INTO salesforce._bridge_totals (table_name, success, failed)
  SELECT table_name, count(*) FILTER (WHERE state = 'SUCCESS'), count(*) FILTER (WHERE state = 'FAILED')
  FROM salesforce._trigger_log GROUP BY table_name`);
  });
  afterAll(() => filled.close());

  test.each([
    [null, null],
    ["SUCCESS", null],
    ["NEW", "contact"],
    [null, "account"],
    [null, "x' OR true --"],
  ] as const)("is listed from whichever end is nearer, and the pages are the same: %s of %s", async (state, table) => {
    const all = await filled.sql(
      "SELECT id FROM salesforce._trigger_log WHERE state = coalesce($1, state) AND table_name = coalesce($2, table_name) ORDER BY id DESC",
      [state, table],
    );
    const ids = all.map(({ id }) => Number(id));
    const database = await monitored(filled.url);

    const half = ids.length / 2;
    for (const offset of [0, 4999, 5000, half, half + 1, ids.length - 7, ids.length - 1, ids.length, 99_999]) {
      if (offset < 0) continue;
      const page = await database.listActivity({ state, table, limit: 10, offset });
      const wanted = { offset, total: ids.length, ids: ids.slice(offset, offset + 10) };
      expect({ offset, total: page.total, ids: idsOf(page) }).toEqual(wanted);
    }
  });
});

test("health has the latest cycle of all mappings, and how many rows wait", async () => {
  await aCustomer();
  await customer.provision({ mappingId: "map_lead", table: "lead", sfObject: "Lead" });
  const { store, lease } = await customer.cycle();
  await insertMany(3);
  await store.claim(lease, 1);
  await store.finish(lease, END);
  await sql("UPDATE salesforce._bridge_state SET last_run_at = '2020-01-01' WHERE mapping_id = 'map_lead'");

  const database = await monitored();
  expect(await database.check()).toMatchObject({ lastRunAt: customer.now, waitingRows: 3 });

  const all = { table: null, limit: 10, offset: 0 };
  expect(await database.listActivity({ ...all, state: "NEW" })).toMatchObject({ total: 2 });
  expect(await database.listActivity({ ...all, state: "PENDING" })).toMatchObject({ total: 1 });

  await endKeptSessions(customer); // the kept connection is replaced by another
  expect(await database.check()).toMatchObject({ waitingRows: 3 });
});

test("a schema in which nothing was provisioned yet answers like an empty one", async () => {
  await aCustomer({ provisioned: false });
  const database = await monitored();

  const seen = [
    await database.listActivity({ state: null, table: null, limit: 50, offset: 0 }),
    await database.listErrors({ table: "contact", limit: 50, offset: 0 }),
    await database.check(),
    await database.leaseOf("map_1"),
    await database.requestAbort("map_1", new Date()),
  ];

  const none = { rows: [], total: 0 };
  const idle = { latencyMilliseconds: expect.any(Number), lastRunAt: null, waitingRows: 0, backlogs: [] };
  expect(seen).toEqual([none, none, idle, null, false]);
});

test.each([
  ["nothing listens", { port: "1" }, "no server listens at this host and port (ECONNREFUSED)"],
  ["the password is wrong", { password: "wrong" }, "the database refuses this user and password (28P01)"],
  ["it does not exist", { pathname: "/none" }, "the server has no database of this name (3D000)"],
])("a database that cannot be asked because %s is reported by the class of the trouble", async (_, change, message) => {
  const database = await createTestDatabase();
  const { href } = Object.assign(new URL(database.url), change);

  const refusal = monitored(href).then((asked) => asked.check());

  await expect(refusal).rejects.toBeInstanceOf(DatabaseUnavailable);
  await expect(refusal).rejects.toMatchObject({ stage: "connect", message });
  await database.close();
});
