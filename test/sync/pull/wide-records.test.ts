import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** A page of records with so long a text ends before all of these, which have one stamp. */
const MANY = 1_300;

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["Description", "LastName"] });
});

const rows = async () =>
  (await world.sql("SELECT count(DISTINCT lastname)::int AS n FROM salesforce.contact"))[0]?.["n"];

test("records with a long text come by pages of fewer records, and a pull that ended between two of one stamp leaves none out", async () => {
  const records = Array.from({ length: MANY }, (_, at) => ({ LastName: `L${at}`, Description: "A long story" }));
  await world.createRecords("Contact", records);
  let queries = 0;
  world.interfere((call) => {
    if (call !== "org.query" && call !== "org.queryTogether") return;
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

longTest(
  "records whose page is longer than any that is read come by smaller pages, and the mapping does not fail",
  async () => {
    // 96 KB each: a hundred are longer than the 8 MiB that a page may have.
    const story = "長".repeat(32_000);
    const long = Array.from({ length: 100 }, (_, at) => ({ LastName: `Long ${at}`, Description: story }));

    await world.createRecords("Contact", long);
    // Pages of an eighth are still too long.
    const size = { rows: 3, fields: 0, since: world.cloud.clock.now() };
    await world.sql("UPDATE salesforce._bridge_state SET lanes = $1", [JSON.stringify({ size })]);
    await world.cycle(contact);
    await world.cycle(contact);

    const found = await world.sql(
      `SELECT count(*)::int AS n FROM salesforce.contact WHERE description = repeat('長', 32000)`,
    );
    expect(found).toEqual([{ n: 100 }]);
    expect(world.log.flatMap(({ notes = [] }) => notes as string[])).toContainEqual(
      expect.stringMatching(/a read was too much for the org \(.*TOO_LARGE.*\); it is asked for in smaller pieces/),
    );
  },
);
