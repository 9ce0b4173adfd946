import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/sync-world.ts";

/** A page of records with so long a text ends before all of these, which have one stamp. */
const MANY = 1_300;

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());
beforeEach(async () => {
  world = await createSyncWorld(cloud);
  const [mapping] = await world.map({ object: "Contact", fields: ["Description", "LastName"] });
  if (!mapping) throw new Error("the mapping was not made");
  contact = mapping;
  const records = Array.from({ length: MANY }, (_, at) => ({ LastName: `L${at}`, Description: "A long story" }));
  await world.createRecords("Contact", records);
});
afterEach(() => world.close());

const rows = async () =>
  (await world.sql("SELECT count(DISTINCT lastname)::int AS n FROM salesforce.contact"))[0]?.["n"];

test("records with a long text come by pages of fewer records, and a pull that ended between two of one stamp leaves none out", async () => {
  let queries = 0;
  world.interfere((call) => {
    if (call !== "org.query") return;
    queries += 1;
    if (queries === 2) throw new Error("killed");
  });
  await world.cycle(contact);
  const first = await rows();
  world.interfere(null);

  await world.cycle(contact);

  expect(first).toBe(1_212);
  expect(await rows()).toBe(MANY);
});
