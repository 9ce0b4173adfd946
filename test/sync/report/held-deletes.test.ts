import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
});

/** Announced since the last check. */
const newEvents = async () => {
  const events = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = events.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return (await world.events(mine.map(({ event_id }) => event_id))).map(({ event, detail }) => ({ event, ...detail }));
};
const lines = () => world.log.filter(({ event }) => event === "deletes held");
const cycles = async (count: number, secondsApart: number) => {
  for (let turn = 0; turn < count; turn += 1) {
    await world.pass(secondsApart);
    await world.cycle(contact);
  }
};

test("held deletes break nothing and are reported when holding begins, once an hour, and when it ends", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || n FROM generate_series(1, 160) n");
  await world.cycle(contact);
  await newEvents();
  await world.sql("DELETE FROM salesforce.contact");

  await cycles(2, 10);
  const began = await newEvents();
  const [since] = lines().map((line) => line["since"]);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");
  await cycles(5, 600);
  const within = await newEvents();
  await cycles(1, 600);
  const later = await newEvents();
  await cycles(5, 600);
  await world.sql("UPDATE salesforce._trigger_log SET held = false, confirmed = true WHERE held");
  await cycles(2, 10);
  const ended = await newEvents();

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
  const spoken = world.log.filter((line) => line["event"] === "cycle" && "heldDeletes" in line);
  expect(spoken).toEqual([]);
  expect(world.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(await world.soql("SELECT LastName FROM Contact")).toEqual([{ LastName: "Lovelace" }]);
});

longTest(
  "a mapping that is broken while it holds deletes recovers, and continues holding without a further word",
  async () => {
    await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || n FROM generate_series(1, 120) n");
    await world.cycle(contact);
    await world.sql("DELETE FROM salesforce.contact");
    await cycles(2, 10);
    await newEvents();

    await world.fault({ kind: "unavailable", times: 0 });
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");
    await cycles(3, 10);
    await world.control("DELETE", "/faults");
    await cycles(2, 10);

    expect((await newEvents()).map(({ event }) => event)).toEqual(["sync.broken", "sync.recovered"]);
    expect(lines()).toHaveLength(1);
  },
);
