import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { RunningInstance } from "../support/processes/instance.ts";

const SOON = { timeout: 300_000, interval: 250 };

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const bridge = new RunningInstance({ live: true });
beforeAll(() => bridge.start());
afterAll(() => bridge.destroy());

test("npm start shows 200 accounts and contacts in step, one refused with its reason, and one conflict", async () => {
  await vi.waitFor(async () => {
    expect(await inStep()).toEqual({ accounts: 40, contacts: 159 });
    expect(await bridge.soql("SELECT COUNT(Id) n FROM Account")).toMatchObject([{ n: 40 }]);
    expect(await bridge.soql("SELECT COUNT(Id) n FROM Contact")).toMatchObject([{ n: 159 }]);
  }, SOON);
  const refused = await bridge.sql("SELECT _ab_err FROM salesforce.contact WHERE sfid IS NULL");
  expect(refused).toEqual([{ _ab_err: expect.stringContaining("invalid email address: ada at example.com") }]);

  await vi.waitFor(async () => {
    const { body } = await bridge.api("GET", "/monitoring/conflicts");
    expect(body.data).toMatchObject([{ field: "phone" }]);
  }, SOON);
});

async function inStep() {
  const [found] = await bridge.sql<{ accounts: number; contacts: number }>(
    `SELECT (SELECT count(*)::int FROM salesforce.account WHERE sfid IS NOT NULL) AS accounts,
            (SELECT count(*)::int FROM salesforce.contact WHERE sfid IS NOT NULL) AS contacts`,
  );
  return found;
}
