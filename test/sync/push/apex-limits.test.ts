import { expect, test, vi } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { FEWEST as MANY } from "../../support/doubles/small-jobs.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { endJobsBeforeLooks } from "../../support/worlds/bulk-jobs.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { countStates, insertContacts, shownState } from "./questions.ts";

/** Triggers of the org that cannot bear as many records at once as a call may have. */

vi.mock(import("../../../lib/model/change/ways.ts"), async (original) =>
  (await import("../../support/doubles/small-jobs.ts")).smallJobs(original),
);

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  const fields = ["External_Id__c", "LastName", "Title"];
  contact = await mapped(world, { object: "Contact", fields, upsertField: "External_Id__c" });
});

const insert = (count: number, after = 0) => insertContacts(world, count, after);
const states = () => countStates(world);
/** What the last cycle stored of the size of a call, and how many calls saved. */
const calls = () => {
  const saves = world.log.flatMap(({ event, callSize, saves }) => (event === "cycle" ? [{ callSize, saves }] : []));
  return saves.at(-1);
};
test("200 rows that exceed an Apex limit together are all saved, and the next ones are sent at once in smaller calls", async () => {
  await insert(150);
  await world.fault({ kind: "governorLimit", object: "Contact", size: 60, times: 0 });

  await world.cycle(contact);

  expect(await states()).toEqual({ SUCCESS: 150 });
  expect(await world.sql("SELECT max(attempts)::int AS n FROM salesforce._trigger_log")).toEqual([{ n: 0 }]);
  expect(await world.sql("SELECT FROM salesforce._bridge_outbox")).toEqual([]);
  // 150 and 75 were too many, 38 were not: of 150 four calls.
  expect(calls()).toEqual({ callSize: 38, saves: 6 });
  expect((await shownState(world))?.notices).toEqual([
    {
      message:
        "triggers or flows of Contact exceeded a limit of Apex, so one call saves 38 records; twice as many are tried every hour",
      remedy:
        "change them so that they handle 200 records in one call; until then, a smaller batch_size of the mapping avoids the tries",
    },
  ]);
  await insert(76, 150);
  await world.cycle(contact);
  expect(calls()).toEqual({ callSize: undefined, saves: 2 });
  await world.control("DELETE", "/faults");
  await world.pass(3600);
  await insert(77, 226);
  await world.cycle(contact);
  expect(calls(), "one of twice the size, and the rest").toEqual({ callSize: undefined, saves: 2 });
  expect(await states()).toEqual({ SUCCESS: 303 });
});

longTest(
  "a row that exceeds a limit alone ends FAILED in Apex's words, the others are saved and continue in full calls",
  async () => {
    await insert(40);
    await world.fault({ kind: "governorLimit", object: "Contact", record: "L17", times: 0 });

    await world.cycle(contact);

    expect(await world.sql("SELECT lastname, _ab_err FROM salesforce.contact WHERE _ab_lastop = 'FAILED'")).toEqual([
      {
        lastname: "L17",
        _ab_err:
          "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY: ContactTrigger: System.LimitException: Apex CPU time limit exceeded",
      },
    ]);
    expect(await states()).toEqual({ FAILED: 1, SUCCESS: 39 });
    await insert(40, 40);
    await world.cycle(contact);
    expect(calls()).toEqual({ callSize: undefined, saves: 1 });
  },
);

longTest(
  "a job of the Bulk API whose records exceed an Apex limit continues by SOAP in smaller calls, and so do the next changes",
  async () => {
    endJobsBeforeLooks(world);
    await insert(MANY);
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET title = 'first'");
    await world.fault({ kind: "governorLimit", object: "Contact", size: 100, times: 0 });

    for (let cycle = 0; cycle < 3; cycle += 1) await world.cycle(contact);

    expect(await world.soql("SELECT count(Id) n FROM Contact WHERE Title = 'first'")).toEqual([{ n: MANY }]);
    await world.control("DELETE", "/requests");
    await world.sql("UPDATE salesforce.contact SET title = 'second'");
    await world.cycle(contact);
    expect(await world.soql("SELECT count(Id) n FROM Contact WHERE Title = 'second'")).toEqual([{ n: MANY }]);
    const requests = (await world.control("GET", "/requests")) as { path: string }[];
    expect(requests.filter(({ path }) => path.includes("/jobs/ingest"))).toEqual([]);
  },
);

longTest("batch_size holds every call to so many records from the first one on", async () => {
  contact = await mapped(world, {
    object: "Contact",
    fields: ["External_Id__c", "LastName", "Title"],
    upsertField: "External_Id__c",
    bridge: { batch_size: 25 },
  });
  await insert(60);
  await world.fault({ kind: "governorLimit", object: "Contact", size: 25, times: 0 });

  await world.cycle(contact);

  expect(await states()).toEqual({ SUCCESS: 60 });
  expect(calls()).toEqual({ callSize: undefined, saves: 3 });
});
