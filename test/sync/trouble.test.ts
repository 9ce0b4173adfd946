import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { CycleMessage } from "../../lib/model/messages.ts";
import { eachInAWorld, world } from "./world.ts";

eachInAWorld(async () => {
  await world.mapContact(["Birthdate", "Email", "LastName"]);
  await world.newEvents();
});

test("a session that has ended is renewed once in the middle of a cycle; where the org refuses another one the mapping is broken at once, reported once", async () => {
  await world.cycles();
  await world.control("DELETE", "/sessions");
  await world.insert("Curie");

  await world.cycles();

  expect(await world.states()).toEqual(["SUCCESS"]);
  expect(world.log.filter(({ level }) => level === "error")).toEqual([]);

  await world.fault({ kind: "expiredSession", times: 0 });
  await world.cycles(4);
  expect(await world.eventNames()).toEqual(["sync.broken"]);
  await world.control("DELETE", "/faults");
  await world.cycles(2);

  expect(await world.eventNames()).toEqual(["sync.recovered"]);
});

test("an outage of Salesforce fails no row, breaks after three cycles, and recovers with the first good one, also where a login page is in its place", async () => {
  await world.insert("Curie");
  await world.fault({ kind: "unavailable", times: 0 });

  await world.cycles(2);
  expect(await world.eventNames()).toEqual([]);
  await world.control("DELETE", "/faults");
  await world.fault({ kind: "webPage", path: "services/data", times: 0 });
  await world.cycles(2);
  const [broken, ...others] = await world.newEvents();
  const since = broken?.occurredAt.toISOString();
  const why = { reason: "salesforce_unavailable", since, failed_cycles: 3 };
  expect([broken, others]).toMatchObject([{ event: "sync.broken", detail: why }, []]);
  expect(await world.states()).toEqual(["NEW"]);
  expect(world.log.findLast(({ level }) => level === "error")).toMatchObject({
    reason: "salesforce_unavailable",
    message: expect.stringContaining('"Login | Salesforce"'),
  });
  await world.control("DELETE", "/faults");
  await world.pass(30);
  await world.cycles();

  expect(await world.states()).toEqual(["SUCCESS"]);
  const [recovered] = await world.newEvents();
  const detail = { broken_since: since, duration_seconds: 32 };
  expect(recovered).toMatchObject({ event: "sync.recovered", detail });
});

test("calls that are used up fail no row, and beats rest until there may be some again", async () => {
  await world.insert("Curie");
  await world.control("PUT", "/calls", { used: 15_000 });

  await world.cycles();
  const asked = await world.requests();
  await world.beats(1, 10);

  expect(await world.states()).toEqual(["NEW"]);
  expect(await world.requests()).toBe(asked);
  await world.control("PUT", "/calls", { used: 0 });
  await world.beats(1, 300);
  expect(await world.states()).toEqual(["SUCCESS"]);
});

test("the first mapping that the org lets in again polls those that rest, and their polls send no others", async () => {
  await world.map({ object: "Account", fields: ["Name"] });
  const account = await world.mappingOf("Account");
  const polled = async () => {
    const messages = (await world.cloud.take("cycles")) as CycleMessage[];
    return messages.filter(({ kind }) => kind === "poll").map(({ mapping_id }) => mapping_id);
  };
  const rest = async (...mappings: readonly Mapping[]) => {
    await world.control("PUT", "/calls", { used: 15_000 });
    for (const mapping of mappings) await world.cycle(mapping);
    await world.control("PUT", "/calls", { used: 0 });
    await polled();
  };

  await rest(world.contact);
  await world.pass(10);
  await rest(account);
  await world.beats(1, 295);
  expect(await polled()).toEqual([account.id]);
  await rest(world.contact);
  await world.cycle(account);
  expect(await polled()).toEqual([]);
});

test("a record that is locked is sent again within ten seconds, then after minutes, and the others do not wait for it", async () => {
  await world.insert("Locked", "Free");
  await world.fault({ kind: "lockedRow", record: "Locked", times: 2 });

  await world.cycles();
  expect(await world.states()).toEqual(["NEW", "SUCCESS"]);
  for (const [seconds, attempts] of [
    [3, 1],
    [5, 2],
  ] as const) {
    await world.pass(seconds);
    await world.cycles();
    expect((await world.changes("attempts::int"))[0]).toEqual({ attempts });
  }
  await world.pass(120);
  await world.cycles();

  expect(await world.states()).toEqual(["SUCCESS", "SUCCESS"]);
});

test("two messages for one mapping run one cycle at a time and send each row once", async () => {
  await world.insert(...Array(300).fill("Crowd"));

  await world.cyclesAtOnce(world.contact, world.contact);

  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 300 }]);
  expect(await world.states()).toEqual(Array(300).fill("SUCCESS"));
});

test("a database that is gone for a minute, for cycles and for long work, is reported once as broken and once as recovered, and loses nothing", async () => {
  await world.insert("Waiting");
  await world.databaseGoesAway();

  for (let beat = 0; beat < 6; beat += 1) {
    await world.beats(1, 10);
    await expect(world.sweep()).rejects.toThrow();
  }
  expect(await world.eventNames()).toEqual(["sync.broken"]);
  await world.databaseComesBack();
  await world.beats(2, 10);
  await world.sweep();

  expect(await world.eventNames()).toEqual(["sync.recovered"]);
  expect(await world.shown()).toMatchObject([{ state: "running", reason: null }]);
  expect(await world.states()).toEqual(["SUCCESS"]);
});
