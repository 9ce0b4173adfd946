import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "./bridge-cloud.ts";
import type { Asked } from "./carry-out.ts";
import { createSyncWorld, type SyncWorld, type WorldOptions } from "./sync-world.ts";

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
