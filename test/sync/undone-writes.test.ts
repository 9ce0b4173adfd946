import { Client } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { firstInGate } from "../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/worlds/sync-world.ts";
import { mapped } from "../support/worlds/worlds.ts";

/**
 * The loops that write until nothing is left, the write that each expects, and whether it stops with a reason; else it ends
 * because it goes through what it found once, by a key that only grows.
 */
const LOOPS = [
  ["events leave the outbox", "_bridge_outbox", "DELETE", "says why"],
  ["changes are claimed until none is due", "_trigger_log", "UPDATE", "says why"],
  ["a lease is acquired and given back", "_bridge_state", "UPDATE", "says why"],
  ["claimed changes are named", "_bridge_in_hand", "INSERT", "ends"],
  ["what a lost cycle left is removed", "_bridge_in_hand", "DELETE", "ends"],
  ["failures become events", "_bridge_outbox", "INSERT", "ends"],
  ["answers are stored", "_bridge_pushed", "INSERT", "ends"],
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

let cloud: BridgeCloud;
let world: SyncWorld;
let owner: Client;
let contact: Mapping;
/** How often each event was published. */
let published: Map<string, number>;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  contact = await mapped(world, { object: "Contact", fields: ["Email", "LastName"] });
  owner = new Client({ connectionString: world.databaseUrl });
  await owner.connect();
  const { announcements } = world.services;
  const publish: typeof announcements.publish = async (events) => {
    for (const { id } of events) {
      published.set(id, (published.get(id) ?? 0) + 1);
      if ((published.get(id) ?? 0) > 20) throw new Error(`${id} is published over and over`);
    }
    await announcements.publish(events);
  };
  Object.assign(world.services, { announcements: { ...announcements, publish } });
});
afterAll(async () => {
  await owner.end();
  await world.close();
  await cloud.close();
});
beforeEach(() => {
  published = new Map();
});
afterEach(async () => {
  await owner.query("DROP FUNCTION IF EXISTS public.undo() CASCADE; DROP FUNCTION IF EXISTS salesforce.undo() CASCADE");
});

const undo = (table: string, operation: string, body = "RETURN NULL;", when = "") =>
  owner.query(`CREATE FUNCTION salesforce.undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
    CREATE TRIGGER undo BEFORE ${operation} ON salesforce.${table} FOR EACH ROW ${when} EXECUTE FUNCTION salesforce.undo()`);

/** One change that Salesforce takes, one that it refuses, and one record that comes. */
async function work(name: string): Promise<void> {
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ($1, NULL), ('Bad', 'none')", [name]);
  await world.rest("POST", "/sobjects/Contact", { LastName: `${name} comes` });
}

/** What the last two cycles and the outbox said. */
const said = () => JSON.stringify(world.log.slice(-8));

test.each(firstInGate(8, LOOPS))("where a trigger undoes every write, %s: %s %s", async (_, table, operation, end) => {
  await work("First");
  await undo(table, operation);

  await world.cycle(contact).catch(() => undefined);
  await world.cycle(contact).catch(() => undefined);

  expect(Math.max(0, ...published.values())).toBeLessThan(3);
  if (end === "says why") expect(said()).toMatch(/a trigger or a rule of yours undoes it/);
  await owner.query("DROP FUNCTION salesforce.undo() CASCADE");
  await world.cycle(contact);
  const waiting = "SELECT FROM salesforce._trigger_log WHERE processed_at IS NULL";
  await world.pass(3600);
  await world.cycle(contact);
  expect(await world.sql(waiting)).toEqual([]);
});

/** Triggers that let a write through, and put back what it changed. */
const REVERTS = [
  [
    "a claimed change is NEW again",
    "_trigger_log",
    "UPDATE",
    "NEW.state := 'NEW'; NEW.last_operation := NULL; NEW.processed_at := NULL;",
  ],
  ["the failures of a cycle are counted on", "_bridge_state", "UPDATE", "NEW.running_failed := 1000;"],
] as const;

test.each(REVERTS)("where a trigger puts back what was written, %s: %s %s", async (_, table, operation, body) => {
  await work("Second");
  await undo(table, operation, `${body} RETURN NEW;`);

  for (let cycle = 0; cycle < 4; cycle += 1) await world.cycle(contact).catch(() => undefined);

  const spikes = await world.sql("SELECT FROM salesforce._bridge_outbox WHERE event = 'sync.failure_spike'");
  expect(spikes).toEqual([]);
  expect(published.size).toBeLessThan(4);
  expect(Math.max(0, ...published.values())).toBeLessThan(3);
});
