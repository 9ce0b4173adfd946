import { describe, expect, test } from "vitest";
import { monitoring, workspaces } from "../../../functions/services/composition.ts";
import { eachInAWorld, world } from "../world.ts";

const map = (...more: string[]) =>
  world.mapContact([...more, "External_Id__c", "LastName"], { upsertField: "External_Id__c" });
eachInAWorld(() => map());

const crowd = () => world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd' FROM generate_series(1, 401)");

async function abort(): Promise<boolean> {
  const workspace = await (await workspaces().find(world.workspaceId))?.open();
  if (!workspace?.postgres) throw new Error("the workspace has no database");
  const database = await monitoring().open(workspace.postgres);
  return database.requestAbort(world.contact.id, new Date());
}

test("an abort ends a running cycle within one batch, and what was not sent waits as before", async () => {
  await crowd();
  let saves = 0;
  world.interfere(async (call) => {
    if (call !== "org.write") return;
    saves += 1;
    if (saves === 2) expect(await abort()).toBe(true);
  });

  await world.cycles();

  world.interfere(null);
  expect(await world.countRecords()).toBe(400);
  expect(await world.countStates()).toEqual({ SUCCESS: 400, NEW: 1 });
  await world.cycles();
  expect([await world.countRecords(), await world.countStates()]).toEqual([401, { SUCCESS: 401 }]);
});

test("a save that takes long keeps its lease", async () => {
  await world.insert("Slow");
  const renewedDuringSave: string[] = [];
  let isSaving = false;
  world.interfere(async (call) => {
    if (isSaving && call === "store.renew") renewedDuringSave.push(call);
    if (call !== "org.write") return;
    isSaving = true;
    await world.pass(35);
    isSaving = false;
  });

  await world.cycleOnTestClock(world.contact);

  expect(renewedDuringSave).toHaveLength(3);
  expect(await world.countStates()).toEqual({ SUCCESS: 1 });
});

test("a holder that was stopped past its lease writes nothing more, and its save is found by the next", async () => {
  await world.insert("Stopped");
  world.interfere(async (call) => {
    // Another one has acquired the lease while this one's save was on its way.
    if (call === "org.write") await world.sql("UPDATE salesforce._bridge_state SET fence = fence + 1");
  });
  await world.cycles();
  world.interfere(null);
  expect(await world.countStates()).toEqual({ PENDING: 1 });

  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await world.untilKnown(1);

  expect([await world.countRecords(), await world.countStates()]).toEqual([1, { SUCCESS: 1 }]);
  expect(await world.sql("SELECT FROM salesforce.contact")).toHaveLength(1);
});

test("a change of configuration ends the running cycle, what it has sent counts, and the next one continues", async () => {
  await crowd();
  let saves = 0;
  world.interfere(async (call) => {
    if (call !== "org.write" || ++saves !== 2) return;
    world.interfere(null);
    await map("Email");
  });

  await world.cycles();

  expect(await world.countStates()).toEqual({ SUCCESS: 400, NEW: 1 });
  await world.cycles();
  expect([await world.countRecords(), await world.countStates()]).toEqual([401, { SUCCESS: 401 }]);
});

describe("a save that its cycle was stopped over, past its lease and before it was sent", () => {
  /** Stops the next save of a cycle while others do something. */
  const whileStopped = async (others: () => Promise<void>) => {
    let isStopped = false;
    world.interfere(async (call) => {
      if (call !== "org.write" || isStopped) return;
      isStopped = true;
      await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
      await others();
    });
    await world.cycles();
    world.interfere(null);
    await world.cycles();
    await world.untilKnown(1);
  };

  test.each([
    ["makes a record again whose row was deleted since, and the record is deleted again", []],
    ["meets another row under the same upsert value, whose values go again", ["Newer"]],
  ])("%s", async (_, later) => {
    const insert = (name: string) =>
      world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, 'K-1')", [name]);
    await insert("Older");

    await whileStopped(async () => {
      await world.cycles();
      await world.sql("DELETE FROM salesforce.contact");
      for (const name of later) await insert(name);
      await world.cycles();
    });

    expect([await world.namesThere(), await world.names()]).toEqual([later, later]);
  });
});
