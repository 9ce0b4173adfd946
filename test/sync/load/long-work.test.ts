import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { idOf, MANY, newEvents, statesShown, WIDE, WIDE_CONTACT, writeUncaptured } from "../world.ts";

let world: SyncWorld;
aWorldForEachTest(async (made) => {
  world = made.world;
  await world.cloud.take("loads"); // what the cycles of the test before have asked for
}, WIDE_CONTACT);

const mapContact = (...more: string[]) => mapped(world, { object: "Contact", fields: ["LastName", ...more] });
/** As the first load leaves it when it breaks off with this. */
async function brokenOff(reason: string, ...more: string[]): Promise<Mapping> {
  await expect(mapContact(...more)).rejects.toThrow(reason);
  const [contact] = await world.mappings();
  if (!contact) throw new Error("the mapping is gone");
  return contact;
}

const create = (count: number) =>
  world.createRecords(
    "Contact",
    Array.from({ length: count }, (_, index) => ({
      LastName: `Contact ${index}`,
      Description: `"quoted", on\ntwo lines; ünïcödé 🎈 ${index}`,
    })),
  );
const rows = async () => (await world.sql("SELECT count(*)::int AS n FROM salesforce.contact"))[0]?.["n"];
const load = async () => (await world.sql("SELECT load FROM salesforce._bridge_loads"))[0]?.["load"];
const shown = async () => (await statesShown(world))[0];
const eventNames = async () => (await newEvents(world)).map(({ event }) => event);

/** The query jobs of the Bulk API that the org has, oldest first. */
async function queryJobs(): Promise<readonly Record<string, string>[]> {
  const { records } = (await world.rest("GET", "/jobs/query")) as { records: Record<string, string>[] };
  return records;
}

const notes = () =>
  world.log.flatMap(({ event, notes: newEvents = [] }) => (event === "load" ? (newEvents as string[]) : []));

const LOST_JOBS = [
  [
    "failed",
    { kind: "failedJob", message: "QUERY_TIMEOUT: it ran for too long" },
    "QUERY_TIMEOUT: it ran for too long",
  ],
  ["aborted", { kind: "abortedJob" }, "the job is Aborted"],
] as const;

test.each(firstInGate(1, LOST_JOBS))(
  "more records than five pages hold are loaded by the Bulk API, every value as it is, and a job that %s is started over with another one",
  async (_, fault, why) => {
    await create(MANY);
    await world.fault({ ...fault, path: "BULK query" });

    const contact = await mapContact("Description", ...WIDE);

    expect(await rows()).toBe(MANY);
    expect(await world.sql("SELECT description FROM salesforce.contact WHERE lastname = 'Contact 77'")).toEqual([
      { description: '"quoted", on\ntwo lines; ünïcödé 🎈 77' },
    ]);
    const [first, second, ...others] = await queryJobs();
    expect(others).toEqual([]);
    expect(second).toMatchObject({ state: "JobComplete" });
    expect(notes()).toEqual([
      `Bulk query job ${first?.["id"]} is lost (BULK_QUERY_FAILED: ${why}); started over as job ${second?.["id"]}`,
    ]);
    await world.cycle(contact);
    expect(await load()).toBeNull();
    const [state] = await world.sql("SELECT api_calls FROM salesforce._bridge_state");
    expect(state?.["api_calls"]).toMatchObject({ BULK: expect.any(Number) });
  },
);

test("after two lost Bulk jobs, over however many invocations, a load continues by REST over what was written", async () => {
  const part = 400;
  await create(MANY);
  await world.fault({ kind: "smallBatches", path: "/results", size: part, times: 0 });
  const killInThirdPart = () => {
    let parts = 0;
    world.interfere((call) => {
      if (call === "org.bulkResults" && ++parts === 3) throw new Error("killed");
    });
  };
  killInThirdPart();
  const contact = await brokenOff("killed", ...WIDE);
  const [first] = await queryJobs();
  const [gone] = await world.sql("SELECT sfid FROM salesforce.contact LIMIT 1");
  expect(await rows()).toBe(2 * part);
  await world.rest("DELETE", `/jobs/query/${first?.["id"]}`);
  await world.rest("DELETE", `/sobjects/Contact/${gone?.["sfid"]}`);

  killInThirdPart();
  await expect(world.work(contact, "load")).rejects.toThrow("killed");
  world.interfere(null);
  const [second] = await queryJobs();
  await world.control("POST", "/clock", { advanceMilliseconds: 8 * 86_400_000 });
  await world.work(contact, "load");

  expect(await queryJobs()).toEqual([]);
  expect(await rows()).toBe(MANY - 1);
  expect(notes()).toEqual([
    `Bulk query job ${second?.["id"]} is lost (NOT_FOUND: The requested resource does not exist); read by REST instead`,
  ]);
  const [state] = await world.sql("SELECT position FROM salesforce._bridge_state");
  expect(state?.["position"]).not.toBeNull();
});

longTest("a sweep whose Bulk job has expired compares both sides all the same", async () => {
  await create(MANY);
  const contact = await mapContact(...WIDE);
  await writeUncaptured(world, "DELETE FROM salesforce.contact WHERE lastname = 'Contact 1'");
  world.interfere((call) => {
    if (call === "org.bulkResults") throw new Error("killed");
  });
  await expect(world.work(contact, "sweep")).rejects.toThrow("killed");
  world.interfere(null);
  await world.control("POST", "/clock", { advanceMilliseconds: 8 * 86_400_000 });

  await world.work(contact, "load");

  expect(await rows()).toBe(MANY);
  expect(await load()).toBeNull();
});

const NO_FIELD = { kind: "malformedRequest", code: "INVALID_FIELD", message: "No such column", times: 0 };

test("a first load that fails three times breaks the mapping once, whatever its cycles do, until it continues", async () => {
  await create(3);
  await world.fault({ ...NO_FIELD, path: "queryAll" });
  const contact = await brokenOff("INVALID_FIELD");
  const fails = () => expect(world.work(contact, "load")).rejects.toThrow("INVALID_FIELD");

  await world.cycle(contact);
  expect(await shown()).toMatchObject({ state: "loading", reason: expect.stringContaining("INVALID_FIELD") });
  await fails();
  await world.cycle(contact);
  expect(await eventNames()).toEqual(["mapping.activated"]);
  await fails();
  for (let i = 0; i < 3; i++) await world.cycle(contact);
  await fails();
  await world.cycle(contact);

  const message = expect.stringMatching(
    /^the load failed: INVALID_FIELD: No such column; give the connected user access/,
  );
  expect(await newEvents(world)).toMatchObject([
    { event: "sync.broken", detail: { reason: "salesforce_schema", message, failed_cycles: 3 } },
  ]);
  expect(await shown()).toMatchObject({ state: "broken", reason: message, broken_since: expect.any(String) });

  await world.control("DELETE", "/faults");
  await world.cycle(contact);
  expect(await eventNames()).toEqual([]);
  await world.work(contact, "load");
  await world.cycle(contact);

  expect(await eventNames()).toEqual(["sync.recovered"]);
  expect(await shown()).toMatchObject({ state: "running", reason: null, broken_since: null });
});

longTest(
  "a sweep that cannot begin is asked for again by the cycles, and is reported when it fails again and again",
  async () => {
    await create(3);
    const contact = await mapContact();
    await newEvents(world);
    await world.fault({ ...NO_FIELD, path: "BY(%20|\\+| )Id" });
    await expect(world.work(contact, "sweep")).rejects.toThrow("INVALID_FIELD");
    for (let i = 0; i < 2; i++) {
      await world.cloud.take("loads");
      await world.cycle(contact);
      expect(await world.cloud.take("loads")).toMatchObject([{ mapping_id: contact.id, kind: "load" }]);
      await expect(world.work(contact, "load")).rejects.toThrow("INVALID_FIELD");
    }
    await world.cycle(contact);

    expect(await newEvents(world)).toMatchObject([{ event: "sync.broken", detail: { reason: "salesforce_schema" } }]);
    await world.control("DELETE", "/faults");
    await world.work(contact, "load");
    expect(await eventNames()).toEqual(["sync.recovered"]);
    expect(await load()).toBeNull();
  },
);

test("an outage that breaks cycles and a load is reported once, and so is its end", async () => {
  await create(3);
  const contact = await mapContact();
  await newEvents(world);
  await world.databaseGoesAway();
  for (let i = 0; i < 4; i++) {
    await world.cycle(contact);
    await expect(world.work(contact, "sweep")).rejects.toThrow();
  }
  expect(await eventNames()).toEqual(["sync.broken"]);
  await world.databaseComesBack();

  await world.cycle(contact);
  await world.work(contact, "sweep");

  expect(await eventNames()).toEqual(["sync.recovered"]);
  expect(await shown()).toMatchObject({ state: "running", reason: null });
});

test("a first load that was killed is asked for again by the cycles, and continues where it ended", async () => {
  await create(2_100);
  let pages = 0;
  let kills = true;
  world.interfere((call) => {
    if (call === "org.query" && ++pages === 2 && kills) throw new Error("killed");
  });
  const contact = await brokenOff("killed");
  kills = false;
  expect(await rows()).toBe(2_000);
  await world.cloud.take("loads");

  await world.cycle(contact);

  expect(await world.cloud.take("loads")).toEqual([
    { workspace_id: world.workspaceId, mapping_id: contact.id, kind: "load" },
  ]);
  await world.work(contact, "load");
  expect(await rows()).toBe(2_100);
  expect(pages).toBe(2 + 1);
});

test("a field that is added to a mapping is filled for the rows that are there, and what the change asks the org is counted, also while a load is at work", async () => {
  await create(30);
  await mapContact();
  const counted = async () => (await world.sql("SELECT api_calls FROM salesforce._bridge_state"))[0]?.["api_calls"];

  await mapContact("Description");
  expect(await world.sql("SELECT FROM salesforce.contact WHERE description IS NULL")).toEqual([]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
  const { REST } = (await counted()) as { REST: number };
  await world.sql("UPDATE salesforce._bridge_loads SET lease_until = clock_timestamp() + interval '1 hour'");
  await mapContact("Description", "Title");

  expect(await counted()).toMatchObject({ REST: REST + 1 });
});

test("a first load over rows of before, as after a restore, lets those go whose records are gone by then", async () => {
  await create(4);
  const contact = await mapContact();
  await world.rest("DELETE", `/sobjects/Contact/${await idOf(world, "Contact 2")}`);
  await world.sql("UPDATE salesforce._bridge_state SET position = NULL, slow = NULL, deleted = NULL");

  await world.work(contact, "load");

  const names = await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname");
  expect(names.map(({ lastname }) => lastname)).toEqual(["Contact 0", "Contact 1", "Contact 3"]);
  expect(await world.sql("SELECT FROM salesforce._bridge_state WHERE position IS NULL")).toEqual([]);
  expect(await load()).toBeNull();
});
