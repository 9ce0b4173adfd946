import { afterAll, beforeAll } from "vitest";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";

/** The cloud of the running file. */
export let cloud: BridgeCloud;

/** Gives the tests of a file one cloud. */
export function aCloud(): void {
  beforeAll(async () => {
    cloud = await startBridgeCloud();
  });
  afterAll(() => cloud.close());
}
