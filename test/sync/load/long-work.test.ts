import { expect, test } from "vitest";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import { eachInAWorld, MANY, WIDE, WIDE_CONTACT, world } from "../world.ts";

eachInAWorld(undefined, WIDE_CONTACT);

const map = (...more: string[]) => world.mapContact(["LastName", ...more]);
/** As the first load leaves it when it breaks off with this. */
async function brokenOff(reason: string, ...more: string[]): Promise<void> {
  await expect(map(...more)).rejects.toThrow(reason);
  world.contact = await world.mappingOf();
}
const load = () => world.work(world.contact, "load");

const create = (count: number) =>
  world.createRecords(
    "Contact",
    Array.from({ length: count }, (_, index) => ({
      LastName: `Contact ${index}`,
      Description: `"quoted", on\ntwo lines; ünïcödé 🎈 ${index}`,
    })),
  );
const rows = async () => (await world.names()).length;

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

    await map("Description", ...WIDE);

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
    await world.cycles();
    expect(await world.checkpoint()).toBeNull();
    const [state] = await world.sql("SELECT api_calls FROM salesforce._bridge_state");
    expect(state?.["api_calls"]).toMatchObject({ BULK: expect.any(Number) });
  },
);

longTest(
  "after two lost Bulk jobs, over however many invocations, a load continues by REST over what was written",
  async () => {
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
    await brokenOff("killed", ...WIDE);
    const [first] = await queryJobs();
    const [gone] = await world.sql("SELECT sfid FROM salesforce.contact LIMIT 1");
    expect(await rows()).toBe(2 * part);
    await world.rest("DELETE", `/jobs/query/${first?.["id"]}`);
    await world.rest("DELETE", `/sobjects/Contact/${gone?.["sfid"]}`);

    killInThirdPart();
    await expect(load()).rejects.toThrow("killed");
    world.interfere(null);
    const [second] = await queryJobs();
    await world.control("POST", "/clock", { advanceMilliseconds: 8 * 86_400_000 });
    await load();

    expect(await queryJobs()).toEqual([]);
    expect(await rows()).toBe(MANY - 1);
    expect(notes()).toEqual([
      `Bulk query job ${second?.["id"]} is lost (NOT_FOUND: The requested resource does not exist); read by REST instead`,
    ]);
    const [state] = await world.sql("SELECT position FROM salesforce._bridge_state");
    expect(state?.["position"]).not.toBeNull();
  },
);

test("a first load that was killed is asked for again by the cycles, and continues where it ended", async () => {
  await create(2_100);
  let pages = 0;
  let kills = true;
  let asked = "";
  world.interfere((call, soql) => {
    if (call !== "org.query") return;
    asked = String(soql);
    if (++pages === 2 && kills) throw new Error("killed");
  });
  await brokenOff("killed");
  kills = false;
  expect(await rows()).toBe(2_000);
  await world.cloud.take("loads");

  await world.cycles();

  expect(await world.cloud.take("loads")).toEqual([
    { workspace_id: world.workspaceId, mapping_id: world.contact.id, kind: "load" },
  ]);
  const half = JSON.stringify({ size: { rows: 1, fields: 0, since: world.cloud.clock.now() } });
  await world.sql("UPDATE salesforce._bridge_loads SET load = load || $1", [half]);
  await load();
  expect(await rows()).toBe(2_100);
  expect(pages).toBe(2 + 1);
  expect(asked, "a page is as small as the org has made it before").toMatch(/ LIMIT 1000$/);
});

test("a field that is added to a mapping is filled for the rows that are there, and what the change asks the org is counted, also while a load is at work", async () => {
  await create(30);
  await map();
  const counted = async () => (await world.sql("SELECT api_calls FROM salesforce._bridge_state"))[0]?.["api_calls"];

  await map("Description");
  expect(await world.sql("SELECT FROM salesforce.contact WHERE description IS NULL")).toEqual([]);
  expect(await world.changes()).toEqual([]);
  const { REST } = (await counted()) as { REST: number };
  await world.sql("UPDATE salesforce._bridge_loads SET lease_until = clock_timestamp() + interval '1 hour'");
  await map("Description", "Title");

  expect(await counted()).toMatchObject({ REST: REST + 1 });
});

test("a first load over rows of before, as after a restore, lets those go whose records are gone by then", async () => {
  await create(4);
  await map();
  await world.remove("Contact 2");
  await world.sql("UPDATE salesforce._bridge_state SET position = NULL, slow = NULL, deleted = NULL");

  await load();

  expect(await world.names()).toEqual(["Contact 0", "Contact 1", "Contact 3"]);
  expect(await world.sql("SELECT FROM salesforce._bridge_state WHERE position IS NULL")).toEqual([]);
  expect(await world.checkpoint()).toBeNull();
});
