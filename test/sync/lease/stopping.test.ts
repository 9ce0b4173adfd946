import { describe, expect, test } from "vitest";
import { monitoring, workspaces } from "../../../functions/services/composition.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { countRecords, countStates } from "../push/questions.ts";

const ASKED = { object: "Contact", fields: ["External_Id__c", "LastName"], upsertField: "External_Id__c" };

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, ASKED);
});

const states = () => countStates(world);
const records = () => countRecords(world);

async function abort(): Promise<boolean> {
  const workspace = await (await workspaces().find(world.workspaceId))?.open();
  if (!workspace?.postgres) throw new Error("the workspace has no database");
  const database = await monitoring().open(workspace.postgres);
  return database.requestAbort(contact.id, new Date());
}

test("an abort ends a running cycle within one batch, and what was not sent waits as before", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd' FROM generate_series(1, 401)");
  let saves = 0;
  world.interfere(async (call) => {
    if (call !== "org.write") return;
    saves += 1;
    if (saves === 2) expect(await abort()).toBe(true);
  });

  await world.cycle(contact);

  world.interfere(null);
  expect(await records()).toBe(400);
  expect(await states()).toEqual({ SUCCESS: 400, NEW: 1 });
  await world.cycle(contact);
  expect([await records(), await states()]).toEqual([401, { SUCCESS: 401 }]);
});

test("a save that takes long keeps its lease", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Slow')");
  const renewedDuringSave: string[] = [];
  let isSaving = false;
  world.interfere(async (call) => {
    if (isSaving && call === "store.renew") renewedDuringSave.push(call);
    if (call !== "org.write") return;
    isSaving = true;
    await world.pass(35);
    isSaving = false;
  });

  await world.cycleOnTestClock(contact);

  expect(renewedDuringSave).toHaveLength(3);
  expect(await states()).toEqual({ SUCCESS: 1 });
});

test("a holder that was stopped past its lease writes nothing more, and its save is found by the next", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Stopped')");
  world.interfere(async (call) => {
    // Another one has acquired the lease while this one's save was on its way.
    if (call === "org.write") await world.sql("UPDATE salesforce._bridge_state SET fence = fence + 1");
  });
  await world.cycle(contact);
  world.interfere(null);
  expect(await states()).toEqual({ PENDING: 1 });

  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await world.pass(11 * 60);
  await world.cycle(contact);

  expect([await records(), await states()]).toEqual([1, { SUCCESS: 1 }]);
  expect(await world.sql("SELECT FROM salesforce.contact")).toHaveLength(1);
});

test("a change of configuration ends the running cycle, what it has sent counts, and the next one continues", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd' FROM generate_series(1, 401)");
  let saves = 0;
  world.interfere(async (call) => {
    if (call !== "org.write" || ++saves !== 2) return;
    world.interfere(null);
    await world.map({ ...ASKED, fields: ["Email", ...ASKED.fields] });
  });

  await world.cycle(contact);

  expect(await states()).toEqual({ SUCCESS: 400, NEW: 1 });
  const [changed] = await world.mappings();
  if (!changed) throw new Error("the mapping is gone");
  await world.cycle(changed);
  expect([await records(), await states()]).toEqual([401, { SUCCESS: 401 }]);
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
    await world.cycle(contact);
    world.interfere(null);
    await world.cycle(contact);
    await world.pass(ELEVEN_MINUTES);
    await world.cycle(contact);
  };
  const ELEVEN_MINUTES = 11 * 60;
  const names = async () => [
    (await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).map(({ LastName }) => LastName),
    (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).map(({ lastname }) => lastname),
  ];

  test.each([
    ["makes a record again whose row was deleted since, and the record is deleted again", []],
    ["meets another row under the same upsert value, whose values go again", ["Newer"]],
  ])("%s", async (_, later) => {
    const insert = (name: string) =>
      world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, 'K-1')", [name]);
    await insert("Older");

    await whileStopped(async () => {
      await world.cycle(contact);
      await world.sql("DELETE FROM salesforce.contact");
      for (const name of later) await insert(name);
      await world.cycle(contact);
    });

    expect(await names()).toEqual([later, later]);
  });
});
