import { expect, test, vi } from "vitest";
import { FEWEST as MANY } from "../../support/doubles/small-jobs.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { endJobsBeforeLooks } from "../../support/worlds/bulk-jobs.ts";
import { eachInAWorld, world } from "../world.ts";

/** Triggers of the org that cannot bear as many records at once as a call may have. */

vi.mock(import("../../../lib/model/change/ways.ts"), async (original) =>
  (await import("../../support/doubles/small-jobs.ts")).smallJobs(original),
);

const map = (bridge = {}) =>
  world.mapContact(["External_Id__c", "LastName", "Title"], { upsertField: "External_Id__c", bridge });
eachInAWorld(() => map());

/** What the last cycle stored of the size of a call, and how many calls saved. */
const calls = () => {
  const saves = world.log.flatMap(({ event, callSize, saves }) => (event === "cycle" ? [{ callSize, saves }] : []));
  return saves.at(-1);
};

test("200 rows that exceed an Apex limit together are all saved, and the next ones are sent at once in smaller calls", async () => {
  await world.insertKeyed(150);
  await world.fault({ kind: "governorLimit", object: "Contact", size: 60, times: 0 });

  await world.cycles();

  expect(await world.countStates()).toEqual({ SUCCESS: 150 });
  expect(await world.sql("SELECT max(attempts)::int AS n FROM salesforce._trigger_log")).toEqual([{ n: 0 }]);
  expect(await world.sql("SELECT FROM salesforce._bridge_outbox")).toEqual([]);
  // 150 and 75 were too many, 38 were not: of 150 four calls.
  expect(calls()).toEqual({ callSize: 38, saves: 6 });
  expect((await world.shown())[0]?.notices).toEqual([
    {
      message:
        "triggers or flows of Contact exceeded a limit of Apex, so one call saves 38 records; twice as many are tried every hour",
      remedy:
        "change them so that they handle 200 records in one call; until then, a smaller batch_size of the mapping avoids the tries",
    },
  ]);
  await world.insertKeyed(76, 150);
  await world.cycles();
  expect(calls()).toEqual({ callSize: undefined, saves: 2 });
  await world.control("DELETE", "/faults");
  await world.pass(3600);
  await world.insertKeyed(77, 226);
  await world.cycles();
  expect(calls(), "one of twice the size, and the rest").toEqual({ callSize: undefined, saves: 2 });
  expect(await world.countStates()).toEqual({ SUCCESS: 303 });
});

longTest(
  "a job of the Bulk API whose records exceed an Apex limit continues by SOAP in smaller calls, and so do the next changes",
  async () => {
    endJobsBeforeLooks(world);
    await world.insertKeyed(MANY);
    await world.cycles();
    await world.sql("UPDATE salesforce.contact SET title = 'first'");
    await world.fault({ kind: "governorLimit", object: "Contact", size: 100, times: 0 });

    await world.cycles(3);

    expect(await world.soql("SELECT count(Id) n FROM Contact WHERE Title = 'first'")).toEqual([{ n: MANY }]);
    await world.control("DELETE", "/requests");
    await world.sql("UPDATE salesforce.contact SET title = 'second'");
    await world.cycles();
    expect(await world.soql("SELECT count(Id) n FROM Contact WHERE Title = 'second'")).toEqual([{ n: MANY }]);
    expect((await world.requested()).filter(({ path }) => path.includes("/jobs/ingest"))).toEqual([]);
  },
);

longTest("batch_size holds every call to so many records from the first one on", async () => {
  await map({ batch_size: 25 });
  await world.insertKeyed(60);
  await world.fault({ kind: "governorLimit", object: "Contact", size: 25, times: 0 });

  await world.cycles();

  expect(await world.countStates()).toEqual({ SUCCESS: 60 });
  expect(calls()).toEqual({ callSize: undefined, saves: 3 });
});
