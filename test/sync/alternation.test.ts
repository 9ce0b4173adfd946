import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../support/worlds/sync-world.ts";
import { mapped } from "../support/worlds/worlds.ts";

const WIDE = ["Story__c", "Saga__c"];

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
/** What the cycles asked of the org, and wrote to it. */
let calls: string[];
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud, {
    definition: {
      objects: [
        { name: "Contact", fields: WIDE.map((name) => ({ name, type: "longTextArea" as const, length: 131_072 })) },
      ],
    },
  });
  contact = await mapped(world, { object: "Contact", fields: ["LastName", ...WIDE] });
  await world.cycle(contact);
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});
beforeEach(() => {
  calls = [];
});

/** Each of these calls takes the org so many seconds. */
function take(seconds: Readonly<Record<string, number>>): void {
  world.interfere(async (call) => {
    if (!(call in seconds)) return;
    calls.push(call);
    await cloud.clock.advance({ seconds: seconds[call] ?? 0 });
  });
}

/** How many calls of one kind came without one of the other between. */
function runsOf(call: string): number[] {
  const runs = [0];
  for (const one of calls) {
    if (one === call) runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1;
    else runs.push(0);
  }
  return runs;
}

test("an insert does not wait for the end of a long pull", async () => {
  await world.createRecords(
    "Contact",
    Array.from({ length: 600 }, (_, at) => ({ LastName: `There ${at}` })),
  );
  await world.pass(120);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Here')");
  take({ "org.query": 10, "org.write": 1 });

  await world.cycle(contact);
  world.interfere(null);

  // Two slots, and the call that was under way.
  expect(calls.slice(0, 4)).toContain("org.write");
  expect(await world.soql("SELECT count(Id) n FROM Contact WHERE LastName = 'Here'")).toEqual([{ n: 1 }]);
  for (let cycles = 0; cycles < 9; cycles += 1) await world.cycle(contact);
  expect(await world.sql("SELECT count(*)::int AS n FROM salesforce.contact")).toEqual([{ n: 601 }]);
});

test("a change that comes while a long pull continues is sent by the same cycle", async () => {
  await world.pass(120);
  await world.createRecords(
    "Contact",
    Array.from({ length: 600 }, (_, at) => ({ LastName: `Later there ${at}` })),
  );
  await world.pass(120);
  world.interfere(async (call) => {
    if (call !== "org.query" && call !== "org.write") return;
    calls.push(call);
    if (calls.length === 1) await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Here later')");
    if (call === "org.query") await cloud.clock.advance({ seconds: 10 });
  });

  await world.cycle(contact);
  world.interfere(null);

  expect(calls.slice(0, 4)).toContain("org.write");
  expect(await world.soql("SELECT count(Id) n FROM Contact WHERE LastName = 'Here later'")).toEqual([{ n: 1 }]);
});

longTest("a record does not wait for the end of a long push", async () => {
  await world.pass(3_600);
  for (let cycles = 0; cycles < 2; cycles += 1) await world.cycle(contact);
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd ' || n FROM generate_series(1, 801) n");
  take({ "org.query": 1, "org.write": 15 });

  await world.cycle(contact);
  world.interfere(null);

  const writes = calls.filter((call) => call === "org.write").length;
  expect(writes).toBeGreaterThan(2);
  expect(Math.max(...runsOf("org.write"))).toBeLessThanOrEqual(2);
  for (let cycles = 0; cycles < 2; cycles += 1) await world.cycle(contact);
  expect(await world.soql("SELECT count(Id) n FROM Contact WHERE LastName LIKE 'Crowd %'")).toEqual([{ n: 801 }]);
});

test("after a pause a long pull comes to its end before anything is sent, so that conflicts are met", async () => {
  const people = await world.soql("SELECT Id FROM Contact WHERE LastName LIKE 'Crowd %'");
  for (let start = 0; start < 600; start += 200)
    await world.rest("PATCH", "/composite/sobjects", {
      records: people
        .slice(start, start + 200)
        .map(({ Id }) => ({ attributes: { type: "Contact" }, Id, LastName: "Theirs" })),
    });
  await world.sql("UPDATE salesforce.contact SET lastname = 'Ours' WHERE lastname LIKE 'Crowd %'");
  await world.pass(601);
  take({ "org.query": 5, "org.queryTogether": 5, "org.write": 1 });

  await world.cycle(contact);
  world.interfere(null);
  for (let cycles = 0; cycles < 2; cycles += 1) await world.cycle(contact);

  // Every page of 150 such wide records, which take longer than two slots, and the check before the save.
  expect(calls.indexOf("org.write")).toBeGreaterThanOrEqual(Math.ceil(801 / 150) + 1);
  expect(await world.soql("SELECT count(Id) n FROM Contact WHERE LastName = 'Theirs'")).toEqual([{ n: 600 }]);
  expect(await world.soql("SELECT count(Id) n FROM Contact WHERE LastName = 'Ours'")).toEqual([{ n: 201 }]);
});
