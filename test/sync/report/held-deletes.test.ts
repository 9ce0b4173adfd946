import { expect, test } from "vitest";
import { eachInAWorld, world } from "../world.ts";

/** 160 rows, all of them deleted by the application. */
eachInAWorld(async () => {
  await world.mapContact(["LastName"]);
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || n FROM generate_series(1, 160) n");
  await world.cycles();
  await world.newEvents();
  await world.sql("DELETE FROM salesforce.contact");
});

const announced = async () => (await world.newEvents()).map(({ event, detail }) => ({ event, ...detail }));
const lines = () => world.log.filter(({ event }) => event === "deletes held");
const cycles = async (count: number, secondsApart: number) => {
  for (let turn = 0; turn < count; turn += 1) {
    await world.pass(secondsApart);
    await world.cycles();
  }
};

test("held deletes break nothing and are reported when holding begins, once an hour, and when it ends", async () => {
  await cycles(2, 10);
  const began = await announced();
  const [since] = lines().map((line) => line["since"]);
  await world.insert("Lovelace");
  await cycles(5, 600);
  const within = await announced();
  await cycles(1, 600);
  const later = await announced();
  await cycles(5, 600);
  await world.sql("UPDATE salesforce._trigger_log SET held = false, confirmed = true WHERE held");
  await cycles(2, 10);
  const ended = await announced();

  const mapping = { mapping_id: world.contact.id, sf_object: "Contact", pg_table: "contact" };
  const common = { event: "deletes.held", ...mapping, since };
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
  expect(await world.namesThere()).toEqual(["Lovelace"]);
});
