import { describe, expect, test, vi } from "vitest";
import { FEWEST as MANY } from "../../support/doubles/small-jobs.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import { endJobsBeforeLooks } from "../../support/worlds/bulk-jobs.ts";
import { eachInAWorld, LOST, world } from "../world.ts";

/** Records that Salesforce answers with a code which names the org: no attempt, no failed row, the mapping says why. */

vi.mock(import("../../../lib/model/change/ways.ts"), async (original) =>
  (await import("../../support/doubles/small-jobs.ts")).smallJobs(original),
);

const READ_ONLY = {
  kind: "validation",
  object: "Contact",
  code: "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE",
  message: "We can't save your changes while the org is in read-only mode",
  times: 0,
};
const FULL = { ...READ_ONLY, code: "STORAGE_LIMIT_EXCEEDED", message: "storage limit exceeded" };

eachInAWorld(() =>
  world.mapContact(["Birthdate", "External_Id__c", "LastName", "Title"], { upsertField: "External_Id__c" }),
);

const changes = () => world.changes("state, attempts");
const burnt = async () =>
  (await world.sql("SELECT coalesce(max(attempts), 0)::int AS n FROM salesforce._trigger_log"))[0]?.["n"];
const saves = async () => (await world.requested()).filter(({ api }) => api === "SOAP").length;
const shown = async () => {
  const { state, failure, reason } = (await world.shown())[0] ?? {};
  return { state, failure, reason };
};
const lift = () => world.control("DELETE", "/faults");
const beat = async (seconds = 10) => {
  await world.pass(seconds);
  await world.cycle(world.contact, "beat");
};

describe("an org in read-only mode", () => {
  test("is still pulled from at every beat, asked to save once a minute, and says what to do until it takes saves again", async () => {
    await world.insert("Ours");
    await world.fault({ ...READ_ONLY, record: "Ours" });
    await world.newEvents();
    await world.cycles();
    const before = await saves();
    await world.create("Theirs");

    for (let beats = 0; beats < 2; beats++) await beat();

    expect(await world.sql("SELECT lastname FROM salesforce.contact WHERE sfid IS NOT NULL")).toEqual([
      { lastname: "Theirs" },
    ]);
    expect(await saves()).toBe(before);
    await beat(40);
    expect(await saves()).toBe(before + 1);
    expect(await world.countStates()).toEqual({ NEW: 1 });
    expect(await world.newEvents()).toMatchObject([
      {
        event: "sync.broken",
        detail: {
          reason: "org_read_only",
          message:
            "INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE: " +
            "We can't save your changes while the org is in read-only mode; " +
            "wait until Salesforce's maintenance ends (status.salesforce.com); changes wait and are sent then",
        },
      },
    ]);
    expect(await shown()).toEqual({
      state: "broken",
      failure: "org_read_only",
      reason: expect.stringContaining("wait until Salesforce's maintenance ends (status.salesforce.com)"),
    });
    await lift();
    await beat(60);
    expect(await world.countStates()).toEqual({ SUCCESS: 1 });
    expect(await world.eventNames()).toEqual(["sync.recovered"]);
    expect(await shown()).toEqual({ state: "running", failure: null, reason: null });
  });

  test("answers a save that was in doubt and leaves it in doubt", async () => {
    await world.insertKeyed(1);
    await world.fault(LOST);
    await world.cycles();
    await world.fault(READ_ONLY);

    await beat();
    await beat(60);

    expect(await world.countStates()).toEqual({ PENDING: 1 });
    await lift();
    await beat(60);
    expect(await world.countStates()).toEqual({ SUCCESS: 1 });
    expect(await world.countRecords()).toBe(1);
  });
});

test("an org without storage settles the records of the same call that it judged on their own", async () => {
  await world.sql(
    `INSERT INTO salesforce.contact (lastname, birthdate) VALUES ('Full', NULL), ('Good', NULL), ('Bad', '2099-01-01')`,
  );
  await world.fault({ ...FULL, record: "Full" });

  await world.cycles();

  expect(await changes()).toMatchObject([
    { state: "NEW", attempts: 0 },
    { state: "SUCCESS" },
    { state: "FAILED", attempts: 0 },
  ]);
  expect((await world.eventNames()).toSorted()).toEqual(["mapping.activated", "record.failed", "sync.broken"]);
});
const CODES_OF_THE_ORG = [
  ["STORAGE_LIMIT_EXCEEDED", "storage limit exceeded", "org_storage_full"],
  ["API_DISABLED_FOR_ORG", "API is disabled for this Organization", "api_disabled"],
  ["REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", "salesforce_limit"],
  ["REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded.", "salesforce_unavailable"],
  ["SERVER_UNAVAILABLE", "the server is unavailable", "salesforce_unavailable"],
] as const;

test.each(firstInGate(1, CODES_OF_THE_ORG))(
  "%s (%s) in a record's result is the org's: %s",
  async (code, message, reason) => {
    await world.insert("One");
    await world.fault({ ...READ_ONLY, code, message });

    await world.cycles();

    expect(await changes()).toMatchObject([{ state: "NEW", attempts: 0 }]);
    expect(world.log.findLast(({ level }) => level === "error")).toMatchObject({ reason });
  },
);

longTest("a job of the Bulk API that an earlier cycle left at work is given back, too", async () => {
  await world.insertKeyed(MANY);
  await world.fault({ kind: "heldCommit", path: "BULK", milliseconds: 60_000, times: 1 });
  await world.fault(READ_ONLY);
  await world.untilDone(world.cycleOnTestClock(world.contact));
  expect(await world.countStates()).toEqual({ PENDING: MANY });

  for (let beats = 0; beats < 12; beats++) await beat();

  expect([await world.countStates(), await burnt()]).toEqual([{ NEW: MANY }, 0]);
  await lift();
  endJobsBeforeLooks(world);
  await beat(60);
  expect(await world.countStates()).toEqual({ SUCCESS: MANY });
  expect(await world.countRecords()).toBe(MANY);
});
