import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { engineReports, mappings, pauses, rowQueriesOf } from "../../../functions/services/composition.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type CyclesMessage, cyclesIn } from "../../../lib/model/messages.ts";
import { handleCycleMessage } from "../../../lib/sync/beat/handle-cycle-message.ts";
import { type BridgeCloud, startBridgeCloud } from "./bridge-cloud.ts";
import type { Asked } from "./carry-out.ts";
import { createSyncWorld, type SyncWorld, type WorldOptions } from "./sync-world.ts";
import { tokenFor } from "./workspace.ts";

/** What the list of mappings with their states needs. */
export const stateNeeds = () => ({
  mappings: mappings(),
  engine: engineReports(),
  rowQueries: rowQueriesOf(),
  pauses: pauses(),
});

/** What a test begins with. */
interface Made {
  readonly cloud: BridgeCloud;
  readonly world: SyncWorld;
}

/** Gives every test of a file a world of its own, in a cloud that ends with the file; `take` makes the rest of it. */
export function aWorldForEachTest(take: (made: Made) => void | Promise<void>, options: WorldOptions = {}): void {
  let cloud: BridgeCloud;
  let world: SyncWorld;
  beforeAll(async () => {
    cloud = await startBridgeCloud();
  });
  afterAll(() => cloud.close());
  beforeEach(async () => {
    world = await createSyncWorld(cloud, options);
    await take({ cloud, world });
  });
  afterEach(() => world.close());
}

/** The one mapping that is asked for, its table made and its records loaded. */
export async function mapped(world: SyncWorld, asked: Asked): Promise<Mapping> {
  const [mapping] = await world.map(asked);
  if (!mapping) throw new Error("the mapping was not made");
  return mapping;
}

/** A mapped Contact that is pulled and idle, and tokens that operate and administer. */
export interface Asking extends Made {
  readonly contact: Mapping;
  readonly token: string;
  readonly admin: string;
  /** Runs the cycles that were asked for and whose messages can be seen by now; beats are left out. Gives how many. */
  readonly runWhatWasAskedFor: () => Promise<number>;
}

/** Gives every test of a file a world whose Contact is idle. */
export function anIdleContactForEachTest(take: (made: Asking) => void | Promise<void>): void {
  aWorldForEachTest(async ({ cloud, world }) => {
    const contact = await mapped(world, { object: "Contact", fields: ["Email", "LastName"] });
    await world.cycle(contact);
    await cloud.take("cycles");
    const runWhatWasAskedFor = async () => {
      const cycles = ((await cloud.take("cycles")) as CyclesMessage[])
        .flatMap(cyclesIn)
        .filter(({ kind }) => kind !== "beat");
      for (const message of cycles)
        await handleCycleMessage(world.services, message, { owner: "test", deadline: cloud.clock.now() + 180_000 });
      return cycles.length;
    };
    const [token, admin] = [await tokenFor(world.workspaceId, "operate"), await tokenFor(world.workspaceId)];
    await take({ cloud, world, contact, token, admin, runWhatWasAskedFor });
  });
}
