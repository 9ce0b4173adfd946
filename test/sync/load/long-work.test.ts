import { expect, test } from "vitest";
import { workspaces } from "../../../functions/services/composition.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { readStates } from "../../../lib/settings/mapping-states.ts";
import { firstInGate, isWholeGrid, longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped, stateNeeds } from "../../support/worlds/worlds.ts";

/** Records that are loaded by the Bulk API: more than five pages, and the gate maps fields that make small pages. */
const MANY = isWholeGrid ? 10_002 : 1_002;
const WIDE = ["Story__c", "Saga__c"];

let cloud: BridgeCloud;
let world: SyncWorld;
aWorldForEachTest(
  async (made) => {
    ({ cloud, world } = made);
    await cloud.take("loads"); // what the cycles of the test before have asked for
  },
  {
    definition: {
      objects: [
        { name: "Contact", fields: WIDE.map((name) => ({ name, type: "longTextArea" as const, length: 131_072 })) },
      ],
    },
  },
);

async function mapContact(...fields: string[]): Promise<Mapping> {
  return mapped(world, { object: "Contact", fields });
}

const mapMany = (...fields: string[]) => mapContact(...fields, ...(isWholeGrid ? [] : WIDE));

const contacts = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    LastName: `Contact ${index}`,
    Description: `"quoted", on\ntwo lines; ünïcödé 🎈 ${index}`,
  }));
const rows = async () => (await world.sql("SELECT count(*)::int AS n FROM salesforce.contact"))[0]?.["n"];

test("more records than five pages hold are loaded by the Bulk API, every value as it is", async () => {
  await world.createRecords("Contact", contacts(MANY));

  const contact = await mapMany("LastName", "Description");
  await world.cycle(contact);

  expect(await rows()).toBe(MANY);
  expect(await world.sql("SELECT description FROM salesforce.contact WHERE lastname = 'Contact 77'")).toEqual([
    { description: '"quoted", on\ntwo lines; ünïcödé 🎈 77' },
  ]);
  const calls = (await world.sql("SELECT api_calls FROM salesforce._bridge_state"))[0]?.["api_calls"];
  expect(calls).toMatchObject({ BULK: expect.any(Number) });
});

/** The query jobs of the Bulk API that the org has, oldest first. */
async function queryJobs(): Promise<readonly Record<string, string>[]> {
  const { records } = (await world.rest("GET", "/jobs/query")) as { records: Record<string, string>[] };
  return records;
}

const notes = () =>
  world.log.flatMap(({ event, notes: newEvents = [] }) => (event === "load" ? (newEvents as string[]) : []));

const LOST = [
  [
    "failed",
    { kind: "failedJob", message: "QUERY_TIMEOUT: it ran for too long" },
    "QUERY_TIMEOUT: it ran for too long",
  ],
  ["aborted", { kind: "abortedJob" }, "the job is Aborted"],
] as const;

test.each(firstInGate(1, LOST))("a Bulk job that %s is started over with another one", async (_, fault, why) => {
  await world.createRecords("Contact", contacts(MANY));
  await world.fault({ ...fault, path: "BULK query" });

  const contact = await mapMany("LastName");

  expect(await rows()).toBe(MANY);
  const [first, second, ...others] = await queryJobs();
  expect(others).toEqual([]);
  expect(second).toMatchObject({ state: "JobComplete" });
  expect(notes()).toEqual([
    `Bulk query job ${first?.["id"]} is lost (BULK_QUERY_FAILED: ${why}); started over as job ${second?.["id"]}`,
  ]);
  await world.cycle(contact);
  expect(await world.sql("SELECT load FROM salesforce._bridge_loads")).toEqual([{ load: null }]);
});

test("after two lost Bulk jobs, over however many invocations, a load continues by REST over what was written", async () => {
  const part = isWholeGrid ? 4_000 : 400;
  await world.createRecords("Contact", contacts(MANY));
  await world.fault({ kind: "smallBatches", path: "/results", size: part, times: 0 });
  const killInThirdPart = () => {
    let parts = 0;
    world.interfere((call) => {
      if (call === "org.bulkResults" && ++parts === 3) throw new Error("killed");
    });
  };
  killInThirdPart();
  await expect(mapMany("LastName")).rejects.toThrow("killed");
  const [contact] = await world.mappings();
  if (!contact) throw new Error("the mapping is gone");
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
  await world.createRecords("Contact", contacts(MANY));
  const contact = await mapMany("LastName");
  await world.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER USER");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Contact 1'");
  await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");
  world.interfere((call) => {
    if (call === "org.bulkResults") throw new Error("killed");
  });
  await expect(world.work(contact, "sweep")).rejects.toThrow("killed");
  world.interfere(null);
  await world.control("POST", "/clock", { advanceMilliseconds: 8 * 86_400_000 });

  await world.work(contact, "load");

  expect(await rows()).toBe(MANY);
  expect(await world.sql("SELECT load FROM salesforce._bridge_loads")).toEqual([{ load: null }]);
});

/** The events of this workspace that were announced since they were last asked for. */
async function newEvents(): Promise<readonly (readonly [string, Record<string, unknown>])[]> {
  const announced = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = announced.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return (await world.events(mine.map(({ event_id }) => event_id))).map(({ event, detail }) => [event, { ...detail }]);
}

/** What API, console and `doctor` show of the mapping. */
async function shown() {
  const workspace = await workspaces().find(world.workspaceId);
  if (!workspace) throw new Error("the test's workspace is gone");
  return (await readStates(stateNeeds(), workspace, false, new Date(cloud.clock.now())))[0];
}

const NO_FIELD = { kind: "malformedRequest", code: "INVALID_FIELD", message: "No such column", times: 0 };

test("a first load that fails three times breaks the mapping once, whatever its cycles do, until it continues", async () => {
  await world.createRecords("Contact", contacts(3));
  await world.fault({ ...NO_FIELD, path: "queryAll" });
  await expect(mapContact("LastName")).rejects.toThrow("INVALID_FIELD");
  const [contact] = await world.mappings();
  if (!contact) throw new Error("the mapping is gone");
  const fails = () => expect(world.work(contact, "load")).rejects.toThrow("INVALID_FIELD");

  await world.cycle(contact);
  expect(await shown()).toMatchObject({ state: "loading", reason: expect.stringContaining("INVALID_FIELD") });
  await fails();
  await world.cycle(contact);
  expect(await newEvents()).toMatchObject([["mapping.activated", {}]]);
  await fails();
  for (let i = 0; i < 3; i++) await world.cycle(contact);
  await fails();
  await world.cycle(contact);

  const message = expect.stringMatching(
    /^the load failed: INVALID_FIELD: No such column; give the connected user access/,
  );
  expect(await newEvents()).toMatchObject([
    ["sync.broken", { reason: "salesforce_schema", message, failed_cycles: 3 }],
  ]);
  expect(await shown()).toMatchObject({ state: "broken", reason: message, broken_since: expect.any(String) });

  await world.control("DELETE", "/faults");
  await world.cycle(contact);
  expect(await newEvents()).toEqual([]);
  await world.work(contact, "load");
  await world.cycle(contact);

  expect(await newEvents()).toMatchObject([["sync.recovered", {}]]);
  expect(await shown()).toMatchObject({ state: "running", reason: null, broken_since: null });
});

longTest(
  "a sweep that cannot begin is asked for again by the cycles, and is reported when it fails again and again",
  async () => {
    await world.createRecords("Contact", contacts(3));
    const contact = await mapContact("LastName");
    await newEvents();
    await world.fault({ ...NO_FIELD, path: "BY(%20|\\+| )Id" });
    await expect(world.work(contact, "sweep")).rejects.toThrow("INVALID_FIELD");
    for (let i = 0; i < 2; i++) {
      await cloud.take("loads");
      await world.cycle(contact);
      expect(await cloud.take("loads")).toMatchObject([{ mapping_id: contact.id, kind: "load" }]);
      await expect(world.work(contact, "load")).rejects.toThrow("INVALID_FIELD");
    }
    await world.cycle(contact);

    expect(await newEvents()).toMatchObject([["sync.broken", { reason: "salesforce_schema" }]]);
    await world.control("DELETE", "/faults");
    await world.work(contact, "load");
    expect(await newEvents()).toMatchObject([["sync.recovered", {}]]);
    expect(await world.sql("SELECT load FROM salesforce._bridge_loads")).toEqual([{ load: null }]);
  },
);

test("an outage that breaks cycles and a load is reported once, and so is its end", async () => {
  await world.createRecords("Contact", contacts(3));
  const contact = await mapContact("LastName");
  await newEvents();
  await world.databaseGoesAway();
  for (let i = 0; i < 4; i++) {
    await world.cycle(contact);
    await expect(world.work(contact, "sweep")).rejects.toThrow();
  }
  expect((await newEvents()).map(([event]) => event)).toEqual(["sync.broken"]);
  await world.databaseComesBack();

  await world.cycle(contact);
  await world.work(contact, "sweep");

  expect((await newEvents()).map(([event]) => event)).toEqual(["sync.recovered"]);
  expect(await shown()).toMatchObject({ state: "running", reason: null });
});

test("a first load that was killed is asked for again by the cycles, and continues where it ended", async () => {
  await world.createRecords("Contact", contacts(2_100));
  let pages = 0;
  world.interfere((call) => {
    if (call === "org.query" && ++pages === 2) throw new Error("killed");
  });
  await expect(mapContact("LastName")).rejects.toThrow("killed");
  world.interfere((call) => {
    if (call === "org.query") pages += 1;
  });
  expect(await rows()).toBe(2_000);
  const [contact] = await world.mappings();
  if (!contact) throw new Error("the mapping is gone");
  await cloud.take("loads");

  await world.cycle(contact);

  expect(await cloud.take("loads")).toEqual([
    { workspace_id: world.workspaceId, mapping_id: contact.id, kind: "load" },
  ]);
  await world.work(contact, "load");
  expect(await rows()).toBe(2_100);
  expect(pages).toBe(2 + 1);
});

test("a field that is added to a mapping is filled for the rows that are there", async () => {
  await world.createRecords("Contact", contacts(30));
  await mapContact("LastName");

  await mapContact("LastName", "Description");

  const filled = await world.sql("SELECT count(description)::int AS n FROM salesforce.contact");
  expect(filled).toEqual([{ n: 30 }]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("what a change of configuration asks the org is counted, also while a load is at work", async () => {
  await mapContact("LastName");
  const counted = async () => (await world.sql("SELECT api_calls FROM salesforce._bridge_state"))[0]?.["api_calls"];
  const { REST } = (await counted()) as { REST: number };
  await world.sql("UPDATE salesforce._bridge_loads SET lease_until = clock_timestamp() + interval '1 hour'");

  await mapContact("LastName", "Description");

  expect(await counted()).toMatchObject({ REST: REST + 1 });
});

test("a first load over rows of before, as after a restore, lets those go whose records are gone by then", async () => {
  await world.createRecords("Contact", contacts(4));
  const contact = await mapContact("LastName");
  const [gone] = await world.sql("SELECT sfid FROM salesforce.contact WHERE lastname = 'Contact 2'");
  await world.rest("DELETE", `/sobjects/Contact/${gone?.["sfid"]}`);
  await world.sql("UPDATE salesforce._bridge_state SET position = NULL, slow = NULL, deleted = NULL");

  await world.work(contact, "load");

  const names = await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname");
  expect(names.map(({ lastname }) => lastname)).toEqual(["Contact 0", "Contact 1", "Contact 3"]);
  expect(await world.sql("SELECT position IS NOT NULL AS loaded FROM salesforce._bridge_state")).toEqual([
    { loaded: true },
  ]);
  expect(await world.sql("SELECT load FROM salesforce._bridge_loads")).toEqual([{ load: null }]);
});
