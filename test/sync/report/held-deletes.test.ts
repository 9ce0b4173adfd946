import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { newEvents } from "../world.ts";

let world: SyncWorld;
let contact: Mapping;
/** 160 rows, all of them deleted by the application. */
aWorldForEachTest(async (made) => {
  world = made.world;
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || n FROM generate_series(1, 160) n");
  await world.cycle(contact);
  await newEvents(world);
  await world.sql("DELETE FROM salesforce.contact");
});

const announced = async () => (await newEvents(world)).map(({ event, detail }) => ({ event, ...detail }));
const lines = () => world.log.filter(({ event }) => event === "deletes held");
const cycles = async (count: number, secondsApart: number) => {
  for (let turn = 0; turn < count; turn += 1) {
    await world.pass(secondsApart);
    await world.cycle(contact);
  }
};
const lovelace = "INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')";

test("held deletes break nothing and are reported when holding begins, once an hour, and when it ends", async () => {
  await cycles(2, 10);
  const began = await announced();
  const [since] = lines().map((line) => line["since"]);
  await world.sql(lovelace);
  await cycles(5, 600);
  const within = await announced();
  await cycles(1, 600);
  const later = await announced();
  await cycles(5, 600);
  await world.sql("UPDATE salesforce._trigger_log SET held = false, confirmed = true WHERE held");
  await cycles(2, 10);
  const ended = await announced();

  const common = { event: "deletes.held", mapping_id: contact.id, sf_object: "Contact", pg_table: "contact", since };
  const message = expect.stringMatching(/^60 deletes of Contact are held.*held-deletes Contact.*reject-deletes/);
  expect(began).toEqual([{ ...common, phase: "began", deletes: 60, message }]);
  expect(within).toEqual([]);
  expect(later).toEqual([{ ...common, phase: "continues", deletes: 60, message }]);
  const over = "no delete of Contact is held any more";
  expect(ended).toEqual([{ ...common, phase: "ended", deletes: 0, message: over }]);
  expect(lines().map(({ level, phase }) => [level, phase])).toEqual([
    ["warn", "began"],
    ["warn", "continues"],
    ["info", "ended"],
  ]);
  // Nothing else speaks of them: a line of a cycle every ten seconds would hide the one that matters.
  expect(world.log.filter((line) => line["event"] === "cycle" && "heldDeletes" in line)).toEqual([]);
  expect(world.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(await world.soql("SELECT LastName FROM Contact")).toEqual([{ LastName: "Lovelace" }]);
});

longTest(
  "a mapping that is broken while it holds deletes recovers, and continues holding without a further word",
  async () => {
    await cycles(2, 10);
    await newEvents(world);

    await world.fault({ kind: "unavailable", times: 0 });
    await world.sql(lovelace);
    await cycles(3, 10);
    await world.control("DELETE", "/faults");
    await cycles(2, 10);

    expect((await announced()).map(({ event }) => event)).toEqual(["sync.broken", "sync.recovered"]);
    expect(lines()).toHaveLength(1);
  },
);
