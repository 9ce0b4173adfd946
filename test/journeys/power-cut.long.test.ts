import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RunningInstance } from "../support/processes/instance.ts";

vi.setConfig({ testTimeout: 300_000 });

const bridge = new RunningInstance();
beforeAll(() => bridge.start());
afterAll(() => bridge.destroy());

// Each has an instance of its own, and waits long for what the other does not need.
test.concurrent("killed in the middle of 1,000 inserts and started again, all arrive and none twice", async () => {
  await bridge.sql(
    "INSERT INTO salesforce.contact (lastname, email) SELECT 'Row ' || n, 'row' || n || '@example.com' FROM generate_series(1, 1000) n",
  );
  await vi.waitFor(async () => expect(await arrived()).toBeGreaterThan(0), { timeout: 300_000, interval: 10 });

  await bridge.kill();
  const before = bridge.file;
  await bridge.start();

  expect(bridge.file).toMatchObject({ workspace_id: before.workspace_id, api_token: before.api_token });
  await vi.waitFor(async () => expect(await waiting()).toBe(0), { timeout: 300_000, interval: 500 });
  const records = await bridge.soql("SELECT LastName FROM Contact WHERE LastName LIKE 'Row %'");
  expect(records).toHaveLength(1000);
  expect(new Set(records.map(({ LastName }) => LastName)).size).toBe(1000);
  expect(
    await bridge.sql("SELECT count(*)::int AS rows, count(DISTINCT sfid)::int AS records FROM salesforce.contact"),
  ).toEqual([{ rows: 1000, records: 1000 }]);
});

test.concurrent("a first start that is cut off while it makes the demo's tables is ended by the next", async ({
  onTestFinished,
}) => {
  const other = new RunningInstance();
  onTestFinished(() => other.destroy());

  await other.cutOffAt("is ready");
  await other.start();
  await other.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");

  const arrived = () => other.soql("SELECT LastName FROM Contact WHERE LastName = 'Lovelace'");
  await vi.waitFor(async () => expect(await arrived()).toHaveLength(1), { timeout: 300_000, interval: 100 });
});

async function arrived(): Promise<number> {
  const [count] = await bridge.soql("SELECT COUNT(Id) records FROM Contact WHERE LastName LIKE 'Row %'");
  return Number(count?.["records"] ?? 0);
}

async function waiting(): Promise<number> {
  const { body } = await bridge.api("GET", "/monitoring/activity?limit=1&state=NEW");
  const pending = await bridge.api("GET", "/monitoring/activity?limit=1&state=PENDING");
  return (body.meta?.total ?? 0) + (pending.body.meta?.total ?? 0);
}
