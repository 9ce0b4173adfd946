import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** A page of records with so long a text ends before all of these, which have one stamp. */
const MANY = 1_300;

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["Description", "LastName"] });
  const records = Array.from({ length: MANY }, (_, at) => ({ LastName: `L${at}`, Description: "A long story" }));
  await world.createRecords("Contact", records);
});

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
