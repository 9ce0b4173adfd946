import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { killBefore } from "../support/doubles/interference.ts";
import { firstInGate, isWholeGrid } from "../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/worlds/sync-world.ts";
import { mapped } from "../support/worlds/worlds.ts";

const ELEVEN_MINUTES = 11 * 60;

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

/** More calls than a cycle of this size makes. */
const MORE_THAN_ENOUGH = 60;

/** The gate kills one kind of mapping, at every sixth step. */
const EVERY = isWholeGrid ? 1 : 6;

describe.each(
  firstInGate(1, [
    ["with an upsert field", "External_Id__c", 1],
    ["without an upsert field", undefined, 1],
  ]),
)("a cycle of a mapping %s", (_, upsertField, first) => {
  test("can be killed between any two of its steps, and nothing is lost and nothing doubled", async () => {
    const world = await createSyncWorld(cloud);
    const contact = await mapContact(world, upsertField);
    let kills = 0;
    for (let nth = first; nth < MORE_THAN_ENOUGH; nth += EVERY) {
      await startOver(world, contact);
      await changeBothSides(world, nth);

      const { interference, wasReached } = killBefore(nth);
      world.interfere(interference);
      await world.cycle(contact);
      world.interfere(null);
      if (!wasReached()) break;
      kills += 1;
      await settleDown(world, contact);

      expect({ nth, table: await table(world) }).toEqual({ nth, table: await salesforce(world) });
      expect({ nth, names: (await table(world)).map(({ name }) => name) }).toEqual({ nth, names: EXPECTED(nth) });
      expect({ nth, unsettled: await unsettled(world) }).toEqual({ nth, unsettled: [] });
    }
    expect(kills * EVERY).toBeGreaterThan(10);
    await world.close();
  });
});

const EXPECTED = (nth: number) => [
  `Changed here ${nth}`,
  `Changed there ${nth}`,
  `New here ${nth}`,
  `New there ${nth}`,
];

async function mapContact(world: SyncWorld, upsertField: string | undefined): Promise<Mapping> {
  const fields = ["Email", "External_Id__c", "LastName"];
  return mapped(world, { object: "Contact", fields, ...(upsertField && { upsertField }) });
}

/** Three rows that both sides hold. */
async function startOver(world: SyncWorld, contact: Mapping): Promise<void> {
  await world.sql("DELETE FROM salesforce.contact");
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('a', 'K-a'), ('b', 'K-b'), ('gone', 'K-gone')",
  );
  await settleDown(world, contact);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 3 }]);
}

async function changeBothSides(world: SyncWorld, nth: number): Promise<void> {
  const [there] = await world.sql("SELECT sfid FROM salesforce.contact WHERE lastname = 'b'");
  await world.rest("PATCH", `/sobjects/Contact/${there?.["sfid"]}`, { LastName: `Changed there ${nth}` });
  await world.rest("POST", "/sobjects/Contact", { LastName: `New there ${nth}`, External_Id__c: `T-${nth}` });
  await world.sql("UPDATE salesforce.contact SET lastname = $1 WHERE lastname = 'a'", [`Changed here ${nth}`]);
  await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, $2)", [
    `New here ${nth}`,
    `H-${nth}`,
  ]);
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'gone'");
}

/** As the next minutes would: the dead holder's lease runs out, beats continue, what is in doubt becomes known. */
async function settleDown(world: SyncWorld, contact: Mapping): Promise<void> {
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await world.cycle(contact);
  await world.pass(ELEVEN_MINUTES);
  await world.cycle(contact);
  await world.cycle(contact);
}

const table = (world: SyncWorld) =>
  world.sql("SELECT sfid AS id, lastname AS name FROM salesforce.contact ORDER BY lastname");
const salesforce = async (world: SyncWorld) =>
  (await world.soql("SELECT Id, LastName FROM Contact ORDER BY LastName")).map(({ Id: id, LastName: name }) => ({
    id,
    name,
  }));
const unsettled = (world: SyncWorld) =>
  world.sql("SELECT action, state, sf_message FROM salesforce._trigger_log WHERE state <> 'SUCCESS'");
