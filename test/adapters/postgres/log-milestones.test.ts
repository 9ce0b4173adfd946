import fc from "fast-check";
import { type Client, Pool } from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AskLog, LogMilestones } from "../../../lib/adapters/postgres/log-milestones.ts";
import { metadata } from "../../../lib/adapters/postgres/sql.ts";
import { DatabaseUnavailable } from "../../../lib/monitoring/ports.ts";
import { type Customer, createCustomer } from "./customer.ts";

let customer: Customer;
let pool: Pool;
beforeEach(async () => {
  customer = await createCustomer();
  pool = new Pool({ connectionString: customer.url, max: 3 });
});
afterEach(async () => {
  await pool.end();
  await customer.close();
});

const SPACING = { step: 4, stepsAtOnce: 5 };

/** What one process learns of the log by such rows that it is asked for. */
const learner = () => new LogMilestones(metadata("salesforce"), () => customer.now, SPACING);

const ask: AskLog = async (text, values) => (await pool.query(text, [...values])).rows;

const insert = (rows: number) =>
  `INSERT INTO salesforce._trigger_log (action, table_name, record_id)
   SELECT 'UPDATE', 'table_' || n % 3, n FROM generate_series(1, ${rows}) AS n`;

/** What happens to a log between two looks at it. */
type Happening =
  | { readonly kind: "insert" | "gap" | "open"; readonly rows: number }
  | { readonly kind: "commit" | "rollback" | "forget" }
  | { readonly kind: "prune"; readonly share: number; readonly rows: number };

const share = fc.integer({ min: 0, max: 101 }).map((percent) => percent / 100);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({ kind: fc.constantFrom("insert", "gap", "open"), rows: fc.integer({ min: 1, max: 50 }) }),
  fc.record({ kind: fc.constantFrom("commit", "rollback", "commit", "rollback", "forget") }),
  fc.record({ kind: fc.constant("prune"), share, rows: fc.integer({ min: 1, max: 9 }) }),
);

const story = fc.array(fc.record({ happening, shares: fc.array(share, { minLength: 1, maxLength: 6 }) }), {
  minLength: 10,
  maxLength: 30,
});

test("rows before a milestone are counted exactly, whatever came, was left open, rolled back and taken out since", async () => {
  let used = 0;
  await fc.assert(
    fc.asyncProperty(story, async (steps) => {
      await customer.sql("TRUNCATE salesforce._trigger_log, salesforce._bridge_totals");
      await customer.sql(insert(100));
      const milestones = learner();
      const open: Client[] = [];
      for (const { happening, shares } of steps) {
        await happen(happening, open);
        const total = await rowsFrom("-infinity");
        const found = await Promise.all(shares.map((share) => milestones.before(Math.floor(share * total), ask)));
        for (const [at, { total: told, milestone }] of found.entries()) {
          expect(told).toBe(total);
          if (!milestone) continue;
          used += 1;
          expect(milestone.rowsBefore).toBe(await rowsFrom(milestone.id));
          expect(milestone.rowsBefore).toBeLessThanOrEqual(Math.floor((shares[at] ?? 0) * total));
        }
      }
      for (const client of open) await client.end();
    }),
    { numRuns: 60, endOnFailure: true },
  );
  expect(used).toBeGreaterThan(300);
});

test("what is committed while a page looks where the log is closed does not shift that page", async () => {
  await customer.sql(insert(100));
  const milestones = learner();
  for (let page = 0; page < 9; page++) await milestones.before(99, ask);
  const late = await customer.connect();
  await late.query("BEGIN");
  await late.query(insert(3));
  await customer.sql(insert(16));
  const total = await rowsFrom("-infinity");
  let looks = 0;
  const committing: AskLog = async (text, values) => {
    if (text.includes("pg_locks") && looks++ === 0) await late.query("COMMIT");
    return ask(text, values);
  };

  const { milestone } = await milestones.before(12, committing);
  const next = await milestones.before(12, ask);

  expect(looks).toBe(1);
  expect(milestone).toBe(null); // the row is newer than what was known to be closed
  expect(next).toMatchObject({ total: total + 3, milestone: { rowsBefore: await rowsFrom(next.milestone?.id ?? 0) } });
});

test("older places are learnt while a writer stays, though no newer one is", async () => {
  await customer.sql(insert(200));
  const milestones = learner();
  await milestones.before(10, ask);
  const writer = await customer.connect();
  await writer.query("BEGIN");
  await writer.query(insert(1));
  await customer.sql(insert(15));

  for (let page = 0; page < 12; page++) await milestones.before(190, ask);
  const { milestone } = await milestones.before(190, ask);

  expect(milestone).toEqual({ id: expect.any(Number), rowsBefore: await rowsFrom(milestone?.id ?? 0) });
  expect(milestone?.rowsBefore).toBeGreaterThan(190 - SPACING.step);
});

test.each([
  ["emptied and filled again", "TRUNCATE salesforce._trigger_log"],
  ["made anew, its ids as well", "TRUNCATE salesforce._trigger_log RESTART IDENTITY"],
])("a log that was %s is counted anew", async (_, statement) => {
  await customer.sql(insert(300));
  const milestones = learner();
  for (let page = 0; page < 20; page++) await milestones.before(290, ask);
  await customer.sql(statement);
  await customer.sql(insert(200));

  for (let page = 0; page < 20; page++) {
    const { total, milestone } = await milestones.before(150, ask);
    expect(total).toBe(200);
    if (milestone) expect(milestone.rowsBefore).toBe(await rowsFrom(milestone.id));
    else expect(page).toBeLessThan(2);
  }
});

test("a slow database is asked for no more than it must, and one that is too slow for the page is given up", async () => {
  await customer.sql(insert(100));
  const milestones = learner();
  await milestones.before(10, ask);
  await milestones.before(10, ask);
  const asked: string[] = [];
  const slowly =
    (milliseconds: number): AskLog =>
    (text, values) => {
      asked.push(text);
      customer.now = new Date(customer.now.getTime() + milliseconds);
      return ask(text, values);
    };

  const { milestone } = await milestones.before(50, slowly(2_000));
  expect(milestone).toEqual({ id: expect.any(Number), rowsBefore: 1 + SPACING.step * SPACING.stepsAtOnce });
  expect(asked.length).toBe(1);
  await expect(milestones.before(50, slowly(11_000))).rejects.toBeInstanceOf(DatabaseUnavailable);
  expect(asked.length).toBe(2);
});

async function rowsFrom(id: number | "-infinity"): Promise<number> {
  const [row] = await customer.sql(
    "SELECT count(*)::int AS rows FROM salesforce._trigger_log WHERE id >= $1::numeric",
    [id],
  );
  return Number(row?.["rows"]);
}

async function happen(happening: Happening, open: Client[]): Promise<void> {
  switch (happening.kind) {
    case "insert":
      return void (await customer.sql(insert(happening.rows)));
    case "gap":
      return void (await customer.sql(
        `SELECT setval(sequence, nextval(sequence) + ${happening.rows})
         FROM pg_get_serial_sequence('salesforce._trigger_log', 'id') AS sequence`,
      ));
    case "open": {
      const client = await customer.connect();
      await client.query("BEGIN");
      await client.query(insert(happening.rows));
      return void open.push(client);
    }
    case "commit":
    case "rollback": {
      const client = open.shift();
      await client?.query(happening.kind);
      return client?.end();
    }
    case "forget":
      customer.now = new Date(customer.now.getTime() + 11 * 60_000);
      return;
    case "prune":
      return void (await customer.sql(
        `DELETE FROM salesforce._trigger_log WHERE id IN (SELECT id FROM salesforce._trigger_log ORDER BY id
         LIMIT ${happening.rows} OFFSET (SELECT (count(*) * ${happening.share})::bigint FROM salesforce._trigger_log))`,
      ));
  }
}
