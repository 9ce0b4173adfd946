import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { CycleMessage } from "../../../lib/model/messages.ts";
import { handleCycleMessage } from "../../../lib/sync/beat/handle-cycle-message.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let mappings: readonly Mapping[];
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  const contact = { object: "Contact", fields: ["LastName"], bridge: { when_quiet_seconds: 60 } };
  mappings = await world.map({ object: "Account", fields: ["Name"], bridge: { when_quiet_seconds: 60 } }, contact);
  await quietTime();
});

/** After five minutes without a change a mapping counts as quiet. */
async function quietTime(): Promise<void> {
  await world.pass(300);
  await minutes(1);
}

async function pullWhatTheProbeHasFound(): Promise<void> {
  const woken = ((await cloud.take("cycles")) as CycleMessage[]).filter(({ kind }) => kind === "pull");
  const invocation = { owner: "test", deadline: cloud.clock.now() + 180_000 };
  for (const message of woken) await handleCycleMessage(world.services, message, invocation);
}

/** Calls of each minute of beats. */
async function minutes(many: number): Promise<number[]> {
  const calls: number[] = [];
  for (let minute = 0; minute < many; minute++) {
    const before = await world.calls();
    for (let beat = 0; beat < 6; beat++) {
      await world.pass(10);
      await world.beat(mappings);
      await pullWhatTheProbeHasFound();
    }
    calls.push((await world.calls()) - before);
  }
  return calls;
}

const names = async () => (await world.sql("SELECT lastname FROM salesforce.contact")).map((row) => row["lastname"]);

test("quiet mappings are polled together once a minute, and at full pace from the first change on, in Salesforce or of a row", async () => {
  const [quiet] = await minutes(1);
  await world.rest("POST", "/sobjects/Contact", { LastName: "Curie" });
  await minutes(1);
  const found = await names();
  const [soon] = await minutes(1);
  await quietTime();
  const [later] = await minutes(1);

  expect(found).toEqual(["Curie"]);
  expect([quiet, soon, later]).toEqual([1, 6, 1]);

  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");
  await world.pass(10);
  await world.beat(mappings);

  const sent = await world.soql("SELECT LastName FROM Contact WHERE LastName = 'Lovelace'");
  expect(sent).toHaveLength(1);
  expect((await minutes(2))[1]).toBe(6);
});
