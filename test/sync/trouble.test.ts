import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { longTest } from "../support/run/whole-grid.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["Birthdate", "Email", "LastName"] });
});

const states = async () =>
  (await world.sql("SELECT state FROM salesforce._trigger_log ORDER BY id")).map(({ state }) => state);
const newEvents = async () => {
  const events = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = events.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return (await world.events(mine.map(({ event_id }) => event_id))).map(({ event }) => event);
};

test("a session that has ended is renewed once in the middle of a cycle; where the org refuses another one the mapping is broken at once, reported once", async () => {
  await world.cycle(contact);
  await world.control("DELETE", "/sessions");
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");

  await world.cycle(contact);

  expect(await states()).toEqual(["SUCCESS"]);
  expect(world.log.filter(({ level }) => level === "error")).toEqual([]);

  await world.fault({ kind: "expiredSession", times: 0 });
  for (let i = 0; i < 4; i++) await world.cycle(contact);
  expect(await newEvents()).toEqual(["mapping.activated", "sync.broken"]);
  await world.control("DELETE", "/faults");
  await world.cycle(contact);
  await world.cycle(contact);

  expect(await newEvents()).toEqual(["sync.recovered"]);
});

test("an outage of Salesforce fails no row, breaks after three cycles, and recovers with the first good one, also where a login page is in its place", async () => {
  await newEvents();
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await world.fault({ kind: "unavailable", times: 0 });

  await world.cycle(contact);
  await world.cycle(contact);
  expect(await newEvents()).toEqual([]);
  await world.control("DELETE", "/faults");
  await world.fault({ kind: "webPage", path: "services/data", times: 0 });
  await world.cycle(contact);
  await world.cycle(contact);
  expect(await newEvents()).toEqual(["sync.broken"]);
  expect(await states()).toEqual(["NEW"]);
  expect(world.log.findLast(({ level }) => level === "error")).toMatchObject({
    reason: "salesforce_unavailable",
    message: expect.stringContaining('"Login | Salesforce"'),
  });
  await world.control("DELETE", "/faults");
  await world.cycle(contact);

  expect(await states()).toEqual(["SUCCESS"]);
  expect(await newEvents()).toEqual(["sync.recovered"]);
});

test("calls that are used up fail no row, and beats rest until there may be some again", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await world.control("PUT", "/calls", { used: 15_000 });

  await world.cycle(contact);
  const asked = await world.requests();
  await world.pass(10);
  await world.cycle(contact, "beat");

  expect(await states()).toEqual(["NEW"]);
  expect(await world.requests()).toBe(asked);
  await world.control("PUT", "/calls", { used: 0 });
  await world.pass(300);
  await world.cycle(contact, "beat");
  expect(await states()).toEqual(["SUCCESS"]);
});

test("a record that is locked is sent again within ten seconds, then after minutes, and the others do not wait for it", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Locked'), ('Free')");
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

longTest("ten rows that fail in one cycle are reported one by one and as one spike", async () => {
  await newEvents();
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, birthdate) SELECT 'Unborn', '2099-01-01' FROM generate_series(1, 10)",
  );

  await world.cycle(contact);

  const events = await newEvents();
  expect(events.filter((event) => event === "record.failed")).toHaveLength(10);
  expect(events.filter((event) => event === "sync.failure_spike")).toHaveLength(1);
});

longTest("a change that ends in a conflict is reported by the very cycle that ended it", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await world.cycle(contact);
  await world.cycle(contact);
  const [found] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Curie'");
  await world.rest("PATCH", `/sobjects/Contact/${found?.["Id"]}`, { Email: "theirs@example.com" });
  await world.sql("UPDATE salesforce.contact SET email = 'ours@example.com'");
  await newEvents();

  await world.cycle(contact);

  expect(await newEvents()).toEqual(["record.failed"]);
});

longTest(
  "a record that was committed late, under a stamp that the pull had passed, arrives within five minutes",
  async () => {
    await world.fault({ kind: "heldCommit", object: "Contact", milliseconds: 120_000 });
    const saving = world.rest("POST", "/sobjects/Contact", { LastName: "Late" });
    await world.heldUp();
    for (let i = 0; i < 3; i++) {
      await world.pass(36);
      await world.cycle(contact, "beat");
    }
    expect(await world.sql("SELECT FROM salesforce.contact")).toEqual([]);
    await world.pass(20);
    await saving;

    for (let i = 0; i < 5; i++) {
      await world.pass(60);
      await world.cycle(contact, "beat");
    }

    expect(await world.sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Late" }]);
  },
);

test("a record that was deleted for good is deleted from the table within ten minutes", async () => {
  const { id } = (await world.rest("POST", "/sobjects/Contact", { LastName: "Gone" })) as { id: string };
  await world.cycle(contact);
  expect(await world.sql("SELECT FROM salesforce.contact")).toHaveLength(1);
  await world.rest("DELETE", `/sobjects/Contact/${id}`);
  await world.control("DELETE", "/recycle-bin");

  for (let i = 0; i < 5; i++) {
    await world.pass(120);
    await world.cycle(contact, "beat");
  }

  expect(await world.sql("SELECT FROM salesforce.contact")).toEqual([]);
});

test("two messages for one mapping run one cycle at a time and send each row once", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd' FROM generate_series(1, 300)");

  await world.cyclesAtOnce(contact, contact);

  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 300 }]);
  expect(await states()).toEqual(Array(300).fill("SUCCESS"));
});

test("a database that is gone for a minute is reported once as broken and once as recovered, and loses nothing", async () => {
  await newEvents();
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Waiting')");
  await world.databaseGoesAway();

  for (let i = 0; i < 6; i++) {
    await world.pass(10);
    await world.cycle(contact, "beat");
  }
  expect(await newEvents()).toEqual(["sync.broken"]);
  await world.databaseComesBack();
  await world.pass(10);
  await world.cycle(contact, "beat");
  await world.pass(10);
  await world.cycle(contact, "beat");

  expect(await newEvents()).toEqual(["sync.recovered"]);
  expect(await states()).toEqual(["SUCCESS"]);
});
