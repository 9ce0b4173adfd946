import { beforeEach, expect, test } from "vitest";
import { schedules } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** With the two wide fields a page holds few records, and more than five pages are loaded by the Bulk API. */
const MANY = 1_001;
const WIDE = ["Story__c", "Saga__c"];

let world: SyncWorld;
aWorldForEachTest(
  (made) => {
    ({ world } = made);
  },
  {
    definition: {
      objects: [
        { name: "Contact", fields: WIDE.map((name) => ({ name, type: "longTextArea" as const, length: 131_072 })) },
      ],
    },
  },
);
beforeEach(() => world.pass(1));

const contacts = (count: number) => Array.from({ length: count }, (_, at) => ({ LastName: `Contact ${at}` }));
const mapContact = (): Promise<Mapping> => mapped(world, { object: "Contact", fields: ["LastName", ...WIDE] });
const rows = async (table = "contact") =>
  (await world.sql(`SELECT count(*)::int AS n FROM salesforce.${table}`))[0]?.["n"];
const asked = async () =>
  ((await world.control("GET", "/requests")) as { readonly path: string }[]).map(({ path }) =>
    decodeURIComponent(path),
  );

test("an object that is too large to be counted in time is loaded and compared all the same", async () => {
  await world.createRecords("Contact", contacts(MANY));
  await world.fault({ kind: "queryTimeout", object: "Contact", size: 500, times: 0 });

  const contact = await mapContact();
  await world.work(contact, "sweep");

  expect(await rows()).toBe(MANY);
  expect((await asked()).filter((path) => /COUNT\(\)/.test(path))).toEqual([]);
});

test("an object that Salesforce does not count for our user counts as a large one", async () => {
  await world.createRecords("Contact", contacts(3));
  await world.fault({ kind: "malformedRequest", code: "NOT_FOUND", path: "recordCount", times: 0 });

  await mapContact();

  expect(await rows()).toBe(3);
  expect((await asked()).filter((path) => /jobs\/query/.test(path)).length).toBeGreaterThan(0);
});

test("an object that Salesforce calls too large for our user is read in smaller parts, after one job", async () => {
  await world.createRecords("Contact", contacts(60));
  await world.fault({ kind: "malformedRequest", code: "NOT_FOUND", path: "recordCount", times: 0 }); // by the Bulk API
  await world.fault({ kind: "largeOperation", object: "Contact", size: 20, times: 0 });

  const contact = await mapContact();
  await world.createRecords("Contact", contacts(50));
  await world.pass(70);
  await world.cycle(contact);

  expect(await rows()).toBe(110);
  const { records: jobs } = (await world.rest("GET", "/jobs/query")) as {
    records: readonly { errorMessage: string }[];
  };
  expect(jobs.map(({ errorMessage }) => errorMessage)).toEqual([expect.stringMatching(/^OPERATION_TOO_LARGE/)]);
});

test.each([true, false])(
  "what is too large in its smallest part names the permission that is missing (by Bulk: %s)",
  async (byBulk) => {
    await world.createRecords("Contact", contacts(3));
    if (byBulk) await world.fault({ kind: "malformedRequest", code: "NOT_FOUND", path: "recordCount", times: 0 });
    await world.fault({ kind: "largeOperation", object: "Contact", times: 0 });

    await expect(mapContact()).rejects.toThrow("OPERATION_TOO_LARGE");

    const line = world.log.findLast(({ level }) => level === "error");
    expect(line).toMatchObject({ reason: "salesforce_too_large", remedy: expect.stringContaining("View All Data") });
    expect(line).toHaveProperty("remedy", expect.not.stringContaining("report it"));
  },
);

const jobs = async () =>
  ((await world.rest("GET", "/jobs/query")) as { readonly records: readonly { readonly query: string }[] }).records;
const queries = async () => (await asked()).filter((path) => /queryAll\?/.test(path)).length;

test.each([0, -1, 1])(
  "a count of %i, though there are many: what comes beyond it is loaded by a job",
  async (count) => {
    await world.createRecords("Contact", contacts(MANY));
    await world.fault({ kind: "oldCount", object: "Contact", count, times: 0 });

    const contact = await mapContact();
    const line = world.log.findLast(({ event }) => event === "load");
    await world.rest("POST", "/sobjects/Contact", { LastName: "Later" });
    await world.pass(70);
    await world.cycle(contact);

    expect((await jobs()).map(({ query }) => query)).toEqual([expect.stringMatching(/ WHERE Id > '003\w+' AND /)]);
    expect(line).toMatchObject({ outcome: "done", read: MANY, notes: [] });
    expect(await queries()).toBeLessThan(20);
    expect(await rows()).toBe(MANY + 1);
  },
);

test("a comparison with an old count meets each record once, by REST or by the job", async () => {
  await world.createRecords("Contact", contacts(MANY));
  const contact = await mapContact();
  await world.fault({ kind: "oldCount", object: "Contact", times: 0 });
  const [first, last] = ["Contact 0", `Contact ${MANY - 1}`];
  const [gone] = await world.soql(`SELECT Id FROM Contact WHERE LastName = 'Contact 500'`);
  await world.rest("DELETE", `/sobjects/Contact/${gone?.["Id"]}`);
  for (const what of ["recycle-bin", "delete-log"]) await world.control("DELETE", `/${what}`);
  await world.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER USER");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname IN ($1, $2)", [first, last]);
  await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");

  await world.work(contact, "sweep");

  expect((await jobs()).length).toBe(2);
  expect(world.log.findLast(({ event }) => event === "sweep")).toMatchObject({ inserted: 2, deleted: 1 });
  expect(await rows()).toBe(MANY - 1);
});

test("where the Bulk API refuses the rest of more than was counted, REST reads it, and asks once", async () => {
  await world.createRecords("Contact", contacts(MANY));
  await world.fault({ kind: "oldCount", object: "Contact", times: 0 });
  await world.fault({ kind: "malformedRequest", code: "FEATURE_NOT_ENABLED", path: "POST .*/jobs/query", times: 0 });

  await mapContact();

  expect(await rows()).toBe(MANY);
  const notes = world.log.findLast(({ event }) => event === "load")?.["notes"];
  expect(notes).toEqual([expect.stringMatching(/^the Bulk API refused/)]);
});

test.each([
  ["a count that is too high", 1_000_000, 1],
  ["no count at all", null, 1],
  ["the right count", 3, 0],
])("a small object with %s is loaded whole", async (_, count, byJobs) => {
  await world.createRecords("Contact", contacts(3));
  await world.fault({ kind: "oldCount", object: "Contact", count, times: 0 });

  await mapContact();

  expect(await rows()).toBe(3);
  expect((await jobs()).length).toBe(byJobs);
});

test("archived tasks are loaded by either API, deleted ones are not, and a sweep leaves them where they are", async () => {
  await world.createRecords(
    "Task",
    ["Old", "Older", "Gone", "New"].map((Subject) => ({ Subject })),
  );
  const [gone] = await world.soql("SELECT Id FROM Task WHERE Subject = 'Gone'");
  await world.rest("DELETE", `/sobjects/Task/${gone?.["Id"]}`);
  for await (const { mappingId } of schedules().list()) await schedules().remove(mappingId); // those of the tests before
  await world.pass(86_400);
  await world.control("POST", "/archive", { before: new Date(world.cloud.clock.now()).toISOString() });
  await world.rest("POST", "/sobjects/Task", { Subject: "Newest" });
  expect(await world.soql("SELECT Subject FROM Task")).toEqual([{ Subject: "Newest" }]);
  const all = ["New", "Newest", "Old", "Older"].map((subject) => ({ subject }));
  const subjects = () => world.sql("SELECT subject FROM salesforce.task ORDER BY subject");

  const task = await mapped(world, { object: "Task", fields: ["Subject"] });
  expect(await subjects()).toEqual(all);
  await world.fault({ kind: "malformedRequest", code: "NOT_FOUND", path: "recordCount", times: 0 }); // by the Bulk API
  for (const kind of ["sweep", "backfill"] as const) {
    await world.work(task, kind);
    expect(await subjects()).toEqual(all);
  }
  await world.sql("ALTER TABLE salesforce.task DISABLE TRIGGER USER");
  await world.sql("DELETE FROM salesforce.task");
  await world.sql("ALTER TABLE salesforce.task ENABLE TRIGGER USER");
  await world.work(task, "backfill");

  expect(await subjects()).toEqual(all);
});

test("results are read side by side, and what breaks off is read again from the first part that is not written", async () => {
  await world.createRecords("Contact", contacts(MANY));
  await world.fault({ kind: "smallBatches", path: "/results", size: 300, times: 0 });
  const calls: string[] = [];
  world.interfere((call) => {
    if (calls.at(-1) === "org.bulkResults" && call === "store.apply") {
      calls.push(call);
      throw new Error("killed"); // before anything of the first part is written
    }
    if (call === "org.bulkResults") calls.push(call);
  });

  await expect(mapContact()).rejects.toThrow("killed");
  const [contact] = await world.mappings();
  if (!contact) throw new Error("the mapping is gone");
  world.interfere(null);
  const [{ load } = {}] = await world.sql("SELECT load FROM salesforce._bridge_loads");
  expect(await rows()).toBeLessThan(MANY);

  await world.work(contact, "load");

  expect(calls.slice(0, 2)).toEqual(["org.bulkResults", "org.bulkResults"]);
  expect(load).toMatchObject({ bulk: {}, records: MANY, readSince: expect.any(String) });
  expect(await rows()).toBe(MANY);
});
