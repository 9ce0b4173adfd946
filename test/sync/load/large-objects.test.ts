import { beforeEach, expect, test } from "vitest";
import { firstInGate } from "../../support/run/whole-grid.ts";
import type { Row } from "../../support/worlds/sync-world.ts";
import { mapped } from "../../support/worlds/worlds.ts";
import { eachInAWorld, MANY, numbered, UNCOUNTED, WIDE, WIDE_CONTACT, world } from "../world.ts";

eachInAWorld(undefined, WIDE_CONTACT);
beforeEach(() => world.pass(1));

const create = (count: number) => world.createRecords("Contact", numbered(count));
const fault = (fault: Row) => world.fault({ times: 0, ...fault });
const oldCount = (count?: number | null) => fault({ kind: "oldCount", object: "Contact", count });
const map = () => world.mapContact(["LastName", ...WIDE]);
const rows = async () => (await world.names()).length;
const asked = async () => (await world.requested()).map(({ path }) => decodeURIComponent(path));
const jobs = async () =>
  ((await world.rest("GET", "/jobs/query")) as { readonly records: readonly Record<string, string>[] }).records;

test("an object that is too large to be counted in time is loaded and compared all the same", async () => {
  await create(MANY);
  await fault({ kind: "queryTimeout", object: "Contact", size: 500 });

  await map();
  await world.sweep();

  expect(await rows()).toBe(MANY);
  expect((await asked()).filter((path) => /COUNT\(\)/.test(path))).toEqual([]);
});

test("records of which Salesforce gives fewer than asked for are read on, by a load and by a pull", async () => {
  await create(7);
  await fault({ kind: "smallBatches", path: "/query", size: 3 });
  await map();
  const loaded = await rows();
  await create(5);
  await world.cycles(2);

  expect([loaded, await rows()]).toEqual([7, 12]);
});

test("an object that Salesforce calls too large for our user is read in smaller parts, after one job", async () => {
  await create(60);
  await fault(UNCOUNTED);
  await fault({ kind: "largeOperation", object: "Contact", size: 20 });

  await map();
  await create(50);
  await world.pass(70);
  await world.cycles();

  expect(await rows()).toBe(110);
  expect((await jobs()).map((job) => job["errorMessage"])).toEqual([expect.stringMatching(/^OPERATION_TOO_LARGE/)]);
});

test.each([true, false])(
  "what is too large in its smallest part names the permission that is missing (by Bulk: %s)",
  async (byBulk) => {
    await create(3);
    if (byBulk) await fault(UNCOUNTED);
    await fault({ kind: "largeOperation", object: "Contact" });

    await expect(map()).rejects.toThrow("OPERATION_TOO_LARGE");

    const line = world.log.findLast(({ level }) => level === "error");
    expect(line).toMatchObject({ reason: "salesforce_too_large", remedy: expect.stringContaining("View All Data") });
    expect(line).toHaveProperty("remedy", expect.not.stringContaining("report it"));
  },
);

test.each(firstInGate(1, [0, -1, 1]))(
  "a count of %i, though there are many: what comes beyond it is loaded by a job",
  async (count) => {
    await create(MANY);
    await oldCount(count);

    await map();
    const line = world.lastLine("load");
    await world.create("Later");
    await world.pass(70);
    await world.cycles();

    expect(await jobs()).toMatchObject([{ query: expect.stringMatching(/ WHERE Id > '003\w+' AND /) }]);
    expect(line).toMatchObject({ outcome: "done", read: MANY, notes: [] });
    expect((await asked()).filter((path) => /queryAll\?/.test(path)).length).toBeLessThan(20);
    expect(await rows()).toBe(MANY + 1);
  },
);

test.each(
  firstInGate(1, [
    ["a count that is too high", () => oldCount(1_000_000), 1],
    ["no count at all", () => oldCount(null), 1],
    ["a count that our user may not see", () => fault(UNCOUNTED), 1],
    ["the right count", () => oldCount(3), 0],
  ] as const),
)("a small object with %s is loaded whole", async (_, counted, byJobs) => {
  await create(3);
  await counted();

  await map();

  expect(await rows()).toBe(3);
  expect(await jobs()).toHaveLength(byJobs);
});

test("archived tasks are loaded by either API, deleted ones are not, and a sweep leaves them where they are", async () => {
  await world.createRecords(
    "Task",
    ["Old", "Older", "Gone", "New"].map((Subject) => ({ Subject })),
  );
  const [gone] = await world.soql("SELECT Id FROM Task WHERE Subject = 'Gone'");
  await world.rest("DELETE", `/sobjects/Task/${gone?.["Id"]}`);
  await world.stopMinutes();
  await world.pass(86_400);
  await world.control("POST", "/archive", { before: new Date(world.cloud.clock.now()).toISOString() });
  await world.rest("POST", "/sobjects/Task", { Subject: "Newest" });
  expect(await world.soql("SELECT Subject FROM Task")).toEqual([{ Subject: "Newest" }]);
  const all = ["New", "Newest", "Old", "Older"].map((subject) => ({ subject }));
  const subjects = () => world.sql("SELECT subject FROM salesforce.task ORDER BY subject");

  const task = await mapped(world, { object: "Task", fields: ["Subject"] });
  expect(await subjects()).toEqual(all);
  await fault(UNCOUNTED);
  for (const kind of ["sweep", "backfill"] as const) {
    await world.work(task, kind);
    expect(await subjects()).toEqual(all);
  }
  await world.writeUncaptured("DELETE FROM salesforce.task");
  await world.work(task, "backfill");

  expect(await subjects()).toEqual(all);
});
