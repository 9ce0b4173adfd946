import { afterEach, beforeEach, expect, test } from "vitest";
import { firstInGate } from "../support/run/whole-grid.ts";
import { allInOneWorld, world } from "./world.ts";

/**
 * The loops that write until nothing is left, and the write that each expects. The first three stop with a reason; the others
 * end because they go through what they found once, by a key that only grows.
 */
const LOOPS = [
  ["events leave the outbox", "_bridge_outbox", "DELETE", "says why"],
  ["changes are claimed until none is due", "_trigger_log", "UPDATE", "says why"],
  ["a lease is acquired and given back", "_bridge_state", "UPDATE", "says why"],
  ["claimed changes are named", "_bridge_in_hand", "INSERT", "ends"],
  ["failures become events", "_bridge_outbox", "INSERT", "ends"],
  ["answers are stored", "_bridge_pushed", "INSERT", "ends"],
  ["what a lost cycle left is removed", "_bridge_in_hand", "DELETE", "ends"],
  ["records that became no rows are kept", "_bridge_inbound_errors", "INSERT", "ends"],
  ["settled changes are pruned", "_trigger_log", "DELETE", "ends"],
  ["a load keeps how far it is", "_bridge_loads", "UPDATE", "ends"],
  ["totals follow", "_bridge_totals", "UPDATE", "ends"],
  ["attempts are stored", "_bridge_history", "INSERT", "ends"],
  ["deletions leave tombstones", "_bridge_tombstones", "INSERT", "ends"],
  ["held deletes are held", "_bridge_held_deletes", "INSERT", "ends"],
  ["held deletes are let go", "_bridge_held_deletes", "DELETE", "ends"],
  ["records that became no rows are forgotten", "_bridge_inbound_errors", "DELETE", "ends"],
  ["conflicts are kept", "_bridge_conflicts", "INSERT", "ends"],
  ["cycles are counted", "_bridge_cycles", "INSERT", "ends"],
] as const;

/** How often each event was published. */
let published: Map<string, number>;
let isDown = false;
allInOneWorld(async () => {
  await world.mapContact(["Email", "LastName"]);
  const { announcements } = world.services;
  const publish: typeof announcements.publish = async (events) => {
    if (isDown) throw new Error("the cloud is away");
    for (const { id } of events) {
      published.set(id, (published.get(id) ?? 0) + 1);
      if ((published.get(id) ?? 0) > 20) throw new Error(`${id} is published over and over`);
    }
    await announcements.publish(events);
  };
  Object.assign(world.services, { announcements: { ...announcements, publish } });
});
beforeEach(() => {
  published = new Map();
});
const letGo = () => world.sql("DROP FUNCTION IF EXISTS salesforce.undo() CASCADE");
afterEach(letGo);

/** A trigger of the owner's on one of our tables; before it come one change that Salesforce takes, one that it refuses, and a record. */
async function undo(table: string, operation: string, body: string): Promise<void> {
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Goes', NULL), ('Bad', 'none')");
  await world.create("Comes");
  await world.sql(`CREATE FUNCTION salesforce.undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE TRIGGER undo BEFORE ${operation} ON salesforce.${table} FOR EACH ROW EXECUTE FUNCTION salesforce.undo()`);
}
const cycles = async (count: number) => {
  for (let cycle = 0; cycle < count; cycle += 1) await world.cycle(world.contact).catch(() => undefined);
};

test("an event that cannot be published stays in the outbox until it can", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Bad', 'none')");
  for (isDown of [true, false]) await cycles(1);

  expect([...published.values()]).toEqual([1]);
});

test.each(firstInGate(6, LOOPS))("where a trigger undoes every write, %s: %s %s", async (_, table, operation, end) => {
  await undo(table, operation, "RETURN NULL;");

  await cycles(2);

  expect(Math.max(0, ...published.values())).toBeLessThan(3);
  // What the last two cycles and the outbox said.
  if (end === "says why") expect(JSON.stringify(world.log.slice(-8))).toMatch(/a trigger or a rule of yours undoes it/);
  await letGo();
  await world.cycles();
  await world.pass(3600);
  await world.cycles();
  expect(await world.sql("SELECT FROM salesforce._trigger_log WHERE processed_at IS NULL")).toEqual([]);
});

/** Triggers that let a write through, and put back what it changed. */
const NEW_AGAIN = "NEW.state := 'NEW'; NEW.last_operation := NULL; NEW.processed_at := NULL; RETURN NEW;";

test.each([
  ["a claimed change is NEW again", "_trigger_log", NEW_AGAIN],
  ["the failures of a cycle are counted on", "_bridge_state", "NEW.running_failed := 1000; RETURN NEW;"],
] as const)("where a trigger puts back what was written, %s: %s", async (_, table, body) => {
  await undo(table, "UPDATE", body);

  await cycles(4);

  expect(await world.sql("SELECT FROM salesforce._bridge_outbox WHERE event = 'sync.failure_spike'")).toEqual([]);
  expect(published.size).toBeLessThan(4);
  expect(Math.max(0, ...published.values())).toBeLessThan(3);
});
