import { beforeEach, expect, test } from "vitest";
import { rowQueriesOf } from "../../../../lib/adapters/postgres/operations/row-operations.ts";
import { lastMinutes } from "../../../../lib/model/span.ts";
import type { RowQueries } from "../../../../lib/settings/row-ports.ts";
import { forgetReads, rowsReadOfTheLog } from "../customer.ts";
import { aCustomerForEachTest, connection, customer, sql } from "../world.ts";

const MANY = 3_000;
/** More than the kinds of failures are counted from. */
const FAILURES = 12_000;

aCustomerForEachTest();
beforeEach(() => sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)"));

test("the throughput of a day reads counts, and of the log the changes that its lag is measured by", async () => {
  await fill("'SUCCESS', 'UPDATED', NULL");
  await count({ minutesAgo: 5, accepted: 7, refused: 2 });
  await count({ minutesAgo: 90, accepted: 40, refused: 1 });

  const { hour, day, later, rows } = await asking(async (queries) => ({
    hour: await queries.throughput(lastMinutes(60, customer.now)),
    day: await queries.throughput(lastMinutes(1440, customer.now)),
    later: await queries.throughput({ ...lastMinutes(60, customer.now), from: customer.now }),
  }));

  expect(hour.steps).toMatchObject([{ mappingId: "map_contact", accepted: 7, refused: 2 }]);
  expect(hour.lags.get("map_contact")).toEqual({ p50: 4, p95: 4 });
  expect(day.steps.reduce((all, { accepted }) => all + accepted, 0)).toBe(47);
  expect(later.lags.size, "a lag is of the changes of its time alone").toBe(0);
  expect(rows).toBeLessThan(1_000);
});

test("the kinds of failures are counted from the latest 10,000 failures, whose texts differ", async () => {
  await fill("'FAILED', 'FAILED', 'INVALID_EMAIL_ADDRESS: Email: invalid email address: row ' || i", FAILURES);
  await fill("'FAILED', 'FAILED', 'REQUIRED_FIELD_MISSING: LastName'", 100);

  const { kinds, rows } = await asking(async (queries) => ({ kinds: await queries.failures("contact") }));

  expect(kinds).toMatchObject([
    { count: 9_900, sample: `INVALID_EMAIL_ADDRESS: Email: invalid email address: row ${FAILURES}`, action: "UPDATE" },
    { count: 100, sample: "REQUIRED_FIELD_MISSING: LastName", tableName: "contact" },
  ]);
  expect(rows).toBeLessThan(11_000);
});

/** Changes that were answered four seconds after their capture, two hours ago to a minute ago. */
async function fill(ended: string, changes = MANY): Promise<void> {
  await sql(
    `INSERT INTO salesforce._trigger_log (table_name, record_id, action, created_at, processed_at, state, last_operation, sf_message)
     SELECT 'contact', i, 'UPDATE', at - interval '4 s', at, ${ended} FROM generate_series(1, $1::int) i,
       LATERAL (SELECT $2::timestamptz - interval '1 minute' - ($1 - i) * interval '0.2 s' AS at) answered`,
    [changes, customer.now],
  );
  await sql("ANALYZE salesforce._trigger_log");
}

/** What a cycle writes when it ends. */
async function count(ended: { readonly minutesAgo: number; readonly accepted: number; readonly refused: number }) {
  const minute = Math.floor(customer.now.getTime() / 60_000) - ended.minutesAgo;
  await sql("INSERT INTO salesforce._bridge_cycles VALUES ('map_contact', $1::int % 1440, $1, 1, 0, 0, 0, $2, $3)", [
    minute,
    ended.accepted,
    ended.refused,
  ]);
}

/** Asks, and counts the rows of the log that were read meanwhile. */
async function asking<Answer extends object>(ask: (queries: RowQueries) => Promise<Answer>) {
  await forgetReads(customer);
  const queries = await rowQueriesOf(() => customer.now).open(connection());
  const answer = await ask(queries);
  return { ...answer, rows: await rowsReadOfTheLog(customer) };
}
