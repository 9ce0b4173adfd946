import { expect, test, vi } from "vitest";
import { workspaces } from "../../../functions/services/composition.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { readStates } from "../../../lib/settings/mapping-states.ts";
import { FEWEST as MANY } from "../../support/doubles/small-jobs.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { endJobsBeforeLooks } from "../../support/worlds/bulk-jobs.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped, stateNeeds } from "../../support/worlds/worlds.ts";

/** Triggers of the org that cannot bear as many records at once as a call may have. */

vi.mock(import("../../../lib/model/change/ways.ts"), async (original) =>
  (await import("../../support/doubles/small-jobs.ts")).smallJobs(original),
);

const HOUR = 3600;

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  const fields = ["External_Id__c", "LastName", "Title"];
  contact = await mapped(world, { object: "Contact", fields, upsertField: "External_Id__c" });
});

const insert = (count: number, from = 0) =>
  world.sql(
    `INSERT INTO salesforce.contact (lastname, external_id__c)
     SELECT 'L' || i, 'K-' || i FROM generate_series($2::int + 1, $2::int + $1::int) i`,
    [count, from],
  );
const states = async () =>
  Object.fromEntries(
    (await world.sql("SELECT state, count(*)::int AS n FROM salesforce._trigger_log GROUP BY state")).map((row) => [
      row["state"],
      row["n"],
    ]),
  );
/** What the last cycle stored of the size of a call, and how many calls saved. */
const calls = () => {
  const saves = world.log.flatMap(({ event, callSize, saves }) => (event === "cycle" ? [{ callSize, saves }] : []));
  return saves.at(-1);
};
/** What API, console and `doctor` show of it. */
const notices = async () => {
  const workspace = await workspaces().find(world.workspaceId);
  if (!workspace) throw new Error("the test's workspace is gone");
  const now = new Date(world.cloud.clock.now());
  return (await readStates(stateNeeds(), workspace, false, now))[0]?.notices;
};
const lift = () => world.control("DELETE", "/faults");

test("200 rows that exceed an Apex limit together are all saved, and the next ones are sent at once in smaller calls", async () => {
  await insert(150);
  await world.fault({ kind: "governorLimit", object: "Contact", size: 60, times: 0 });

  await world.cycle(contact);

  expect(await states()).toEqual({ SUCCESS: 150 });
  expect(await world.sql("SELECT max(attempts)::int AS n FROM salesforce._trigger_log")).toEqual([{ n: 0 }]);
  expect(await world.sql("SELECT FROM salesforce._bridge_outbox")).toEqual([]);
  // 150 and 75 were too many, 38 were not: of 150 four calls.
  expect(calls()).toEqual({ callSize: 38, saves: 6 });
  expect(await notices()).toEqual([
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
  expect(await states()).toEqual({ SUCCESS: 226 });
});

longTest(
  "the size of calls after an Apex limit grows again slowly, and one call in an hour tries a larger one",
  async () => {
    await insert(64);
    await world.fault({ kind: "governorLimit", object: "Contact", size: 20, times: 0 });
    await world.cycle(contact);
    expect(calls()).toEqual({ callSize: 16, saves: 6 });
    await lift();

    await world.pass(HOUR);
    await insert(64, 64);
    await world.cycle(contact);
    expect(calls()).toEqual({ callSize: undefined, saves: 2 });
    await world.pass(HOUR);
    await insert(64, 128);
    await world.cycle(contact);

    expect(calls()).toEqual({ callSize: undefined, saves: 1 });
    await world.pass(2 * HOUR);
    expect(await notices()).toEqual([]);
    expect(await states()).toEqual({ SUCCESS: 192 });
  },
);

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
  "a trigger that exceeds its limit with a single record fails them with few calls, because their number is not the cause",
  async () => {
    await insert(200);
    await world.sql("UPDATE salesforce.contact SET title = 'heavy'");
    await world.fault({ kind: "governorLimit", object: "Contact", record: "heavy", times: 0 });

    await world.cycle(contact);

    expect(await states()).toEqual({ FAILED: 400 });
    expect(calls()?.saves).toBeLessThan(15);
    await lift();
    await world.sql("UPDATE salesforce.contact SET title = 'light'");
    await world.cycle(contact);
    expect(await states()).toEqual({ SUCCESS: 600 });
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

longTest("a row whose record was locked is sent again with the next slot", async () => {
  await insert(1);
  await world.fault({ kind: "lockedRow", object: "Contact" });
  await world.cycle(contact, "beat");
  expect(await states()).toEqual({ NEW: 1 });

  await world.pass(10);
  await world.cycle(contact, "beat");

  expect(await states()).toEqual({ SUCCESS: 1 });
});
