import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";
import { newEvents } from "./world.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  world = made.world;
  contact = await mapped(world, { object: "Contact", fields: ["Birthdate", "Email", "LastName"] });
  await newEvents(world);
});

const insert = (...names: readonly string[]) =>
  world.sql("INSERT INTO salesforce.contact (lastname) SELECT unnest($1::text[])", [names]);
const states = async () =>
  (await world.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map(({ state }) => state);
const eventNames = async () => (await newEvents(world)).map(({ event }) => event);
const cycles = async (count: number) => {
  for (let i = 0; i < count; i++) await world.cycle(contact);
};
const beats = async (count: number, secondsApart: number) => {
  for (let i = 0; i < count; i++) {
    await world.pass(secondsApart);
    await world.cycle(contact, "beat");
  }
};

test("a session that has ended is renewed once in the middle of a cycle; where the org refuses another one the mapping is broken at once, reported once", async () => {
  await world.cycle(contact);
  await world.control("DELETE", "/sessions");
  await insert("Curie");

  await world.cycle(contact);

  expect(await states()).toEqual(["SUCCESS"]);
  expect(world.log.filter(({ level }) => level === "error")).toEqual([]);

  await world.fault({ kind: "expiredSession", times: 0 });
  await cycles(4);
  expect(await eventNames()).toEqual(["sync.broken"]);
  await world.control("DELETE", "/faults");
  await cycles(2);

  expect(await eventNames()).toEqual(["sync.recovered"]);
});

test("an outage of Salesforce fails no row, breaks after three cycles, and recovers with the first good one, also where a login page is in its place", async () => {
  await insert("Curie");
  await world.fault({ kind: "unavailable", times: 0 });

  await cycles(2);
  expect(await eventNames()).toEqual([]);
  await world.control("DELETE", "/faults");
  await world.fault({ kind: "webPage", path: "services/data", times: 0 });
  await cycles(2);
  expect(await eventNames()).toEqual(["sync.broken"]);
  expect(await states()).toEqual(["NEW"]);
  expect(world.log.findLast(({ level }) => level === "error")).toMatchObject({
    reason: "salesforce_unavailable",
    message: expect.stringContaining('"Login | Salesforce"'),
  });
  await world.control("DELETE", "/faults");
  await world.cycle(contact);

  expect(await states()).toEqual(["SUCCESS"]);
  expect(await eventNames()).toEqual(["sync.recovered"]);
});

test("calls that are used up fail no row, and beats rest until there may be some again", async () => {
  await insert("Curie");
  await world.control("PUT", "/calls", { used: 15_000 });

  await world.cycle(contact);
  const asked = await world.requests();
  await beats(1, 10);

  expect(await states()).toEqual(["NEW"]);
  expect(await world.requests()).toBe(asked);
  await world.control("PUT", "/calls", { used: 0 });
  await beats(1, 300);
  expect(await states()).toEqual(["SUCCESS"]);
});

test("a record that is locked is sent again within ten seconds, then after minutes, and the others do not wait for it", async () => {
  await insert("Locked", "Free");
  await world.fault({ kind: "lockedRow", record: "Locked", times: 2 });
  const attempts = async () =>
    (await world.sql("SELECT max(attempts)::int AS n FROM salesforce._trigger_log"))[0]?.["n"];

  await world.cycle(contact);
  expect(await states()).toEqual(["NEW", "SUCCESS"]);
  await world.pass(3);
  await world.cycle(contact);
  expect(await attempts()).toBe(1);
  await world.pass(5);
  await world.cycle(contact);
  expect(await attempts()).toBe(2);
  await world.pass(120);
  await world.cycle(contact);

  expect(await states()).toEqual(["SUCCESS", "SUCCESS"]);
});

test("ten rows that fail in one cycle are reported one by one and as one spike, and a change that ends in a conflict by the very cycle that ended it", async () => {
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, birthdate) SELECT 'Unborn', '2099-01-01' FROM generate_series(1, 10)",
  );
  await insert("Curie");
  await world.cycle(contact);
  expect((await eventNames()).toSorted()).toEqual([...Array(10).fill("record.failed"), "sync.failure_spike"]);

  await world.cycle(contact);
  const [found] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Curie'");
  await world.rest("PATCH", `/sobjects/Contact/${found?.["Id"]}`, { Email: "theirs@example.com" });
  await world.sql("UPDATE salesforce.contact SET email = 'ours@example.com' WHERE lastname = 'Curie'");
  await world.cycle(contact);

  expect(await eventNames()).toEqual(["record.failed"]);
});

test("a record that was committed late, under a stamp that the pull had passed, arrives within five minutes, and leaves within ten when it is deleted for good", async () => {
  await world.fault({ kind: "heldCommit", object: "Contact", milliseconds: 120_000 });
  const saving = world.rest("POST", "/sobjects/Contact", { LastName: "Late" });
  await world.heldUp();
  await beats(3, 36);
  expect(await world.sql("SELECT FROM salesforce.contact")).toEqual([]);
  await world.pass(20);
  const { id } = (await saving) as { id: string };

  await beats(5, 60);
  expect(await world.sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Late" }]);

  await world.rest("DELETE", `/sobjects/Contact/${id}`);
  await world.control("DELETE", "/recycle-bin");
  await beats(5, 120);
  expect(await world.sql("SELECT FROM salesforce.contact")).toEqual([]);
});

test("two messages for one mapping run one cycle at a time and send each row once", async () => {
  await insert(...Array(300).fill("Crowd"));

  await world.cyclesAtOnce(contact, contact);

  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 300 }]);
  expect(await states()).toEqual(Array(300).fill("SUCCESS"));
});

test("a database that is gone for a minute is reported once as broken and once as recovered, and loses nothing", async () => {
  await insert("Waiting");
  await world.databaseGoesAway();

  await beats(6, 10);
  expect(await eventNames()).toEqual(["sync.broken"]);
  await world.databaseComesBack();
  await beats(2, 10);

  expect(await eventNames()).toEqual(["sync.recovered"]);
  expect(await states()).toEqual(["SUCCESS"]);
});
