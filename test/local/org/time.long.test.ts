import { expect, test } from "vitest";
import { readLatency } from "../../../lib/local/org/simulation/latency.ts";
import { type Client, ManualClock, openOrg } from "./support/open-org.ts";

const START = "2026-02-03T04:05:06Z";

async function hold(org: Client, milliseconds: number, path = "POST .*/sobjects/Contact"): Promise<void> {
  await org.call("POST", "/_sim/faults", { kind: "heldCommit", path, milliseconds });
}

test("a commit that is held back appears later, under the stamp of its beginning", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  await hold(org, 90_000);

  const slow = org.create("Contact", { LastName: "Slow" });
  await clock.sleepers(1);
  clock.pass(30_000);
  await org.create("Contact", { LastName: "Quick" });
  const before = await org.records("SELECT LastName FROM Contact");
  clock.pass(60_000);
  await slow;

  expect(before).toMatchObject([{ LastName: "Quick" }]);
  expect(await org.records("SELECT LastName, SystemModstamp FROM Contact ORDER BY SystemModstamp")).toMatchObject([
    { LastName: "Slow", SystemModstamp: "2026-02-03T04:05:06.000+0000" },
    { LastName: "Quick", SystemModstamp: "2026-02-03T04:05:36.000+0000" },
  ]);
});

test("latestDateCovered stays behind the oldest transaction that is still open", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  await hold(org, 600_000);
  const slow = org.create("Contact", { LastName: "Slow" });
  await clock.sleepers(1);

  clock.pass(300_000);
  const window = `start=${encodeURIComponent("2026-02-03T04:00:00+00:00")}&end=${encodeURIComponent("2026-02-03T04:10:00+00:00")}`;
  const during = await org.get(`sobjects/Contact/updated?${window}`);
  clock.pass(300_000);
  await slow;
  const after = await org.get(`sobjects/Contact/updated?${window}`);

  expect(during.json).toEqual({ ids: [], latestDateCovered: "2026-02-03T04:05:00.000+0000" });
  expect(after.json).toEqual({ ids: [expect.any(String)], latestDateCovered: "2026-02-03T04:10:00.000+0000" });
});

test("a record that an open transaction holds cannot be changed; after ten seconds the other save gives up", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const id = await org.create("Contact", { LastName: "Rose" });
  await hold(org, 60_000, "PATCH");
  const slow = org.call("PATCH", `sobjects/Contact/${id}`, { LastName: "Slow" });
  await clock.sleepers(1);

  const quick = org.call("PATCH", `sobjects/Contact/${id}`, { LastName: "Quick" });
  await clock.sleepers(2);
  clock.pass(10_000);
  const refused = await quick;
  clock.pass(50_000);
  await slow;

  expect([refused.status, refused.json[0]?.["errorCode"]]).toEqual([400, "UNABLE_TO_LOCK_ROW"]);
  expect(await org.records("SELECT LastName, SystemModstamp FROM Contact")).toMatchObject([
    { LastName: "Slow", SystemModstamp: "2026-02-03T04:05:06.000+0000" },
  ]);
});

test.each([
  [
    "SOAP",
    (org: Client) =>
      org.soap(
        "<upsert><externalIDFieldName>External_Id__c</externalIDFieldName><sObjects><type>Contact</type><External_Id__c>C-1</External_Id__c><LastName>Quick</LastName></sObjects></upsert>",
      ),
  ],
  [
    "a collection",
    (org: Client) => {
      const record = { attributes: { type: "Contact" }, External_Id__c: "C-1", LastName: "Quick" };
      return org.call("PATCH", "composite/sobjects/Contact/External_Id__c", { records: [record] });
    },
  ],
])("nor by an upsert that finds it by its key, in %s", async (_, upsert) => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const id = await org.create("Contact", { LastName: "Rose", External_Id__c: "C-1" });
  await hold(org, 60_000, "PATCH .*/sobjects/Contact/003");
  const slow = org.call("PATCH", `sobjects/Contact/${id}`, { LastName: "Slow" });
  await clock.sleepers(1);

  const quick = upsert(org);
  await clock.sleepers(2);
  clock.pass(10_000);
  const refused = await quick;
  clock.pass(50_000);
  await slow;

  expect(refused.text).toContain("UNABLE_TO_LOCK_ROW");
  expect(await org.records("SELECT LastName FROM Contact")).toMatchObject([{ LastName: "Slow" }]);
});

test("a deletion that commits late takes along what was changed meanwhile, and no stamp goes back", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const account = await org.create("Account", { Name: "Acme" });
  const contact = await org.create("Contact", { LastName: "Rose", AccountId: account });
  const task = await org.create("Task", { Subject: "Call", WhatId: account });
  await hold(org, 60_000, "DELETE");
  const slow = org.call("DELETE", `sobjects/Account/${account}`);
  await clock.sleepers(1);
  clock.pass(30_000);
  await org.call("PATCH", `sobjects/Contact/${contact}`, { Title: "Boss" });
  await org.call("PATCH", `sobjects/Task/${task}`, { Subject: "Write" });
  clock.pass(30_000);
  await slow;

  const meanwhile = "2026-02-03T04:05:36.000+0000";
  expect(await org.records("SELECT IsDeleted, SystemModstamp FROM Contact", "queryAll")).toMatchObject([
    { IsDeleted: true, SystemModstamp: meanwhile },
  ]);
  expect(await org.records("SELECT WhatId, SystemModstamp FROM Task")).toMatchObject([
    { WhatId: null, SystemModstamp: meanwhile },
  ]);
});

test("what leaves the recycle bin is gone for queryAll, and the delete log alone still knows it", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const id = await org.create("Contact", { LastName: "Rose" });
  await org.call("DELETE", `sobjects/Contact/${id}`);

  await org.call("DELETE", "/_sim/recycle-bin");
  clock.pass(60_000);
  const deleted = await org.get(
    `sobjects/Contact/deleted?start=${encodeURIComponent("2026-02-03T04:05:00+00:00")}&end=${encodeURIComponent("2026-02-03T04:06:00+00:00")}`,
  );

  expect(await org.records("SELECT Id FROM Contact", "queryAll")).toEqual([]);
  expect(deleted.json["deletedRecords"]).toEqual([{ id, deletedDate: "2026-02-03T04:05:06.000+0000" }]);
});

test("a window that begins before the delete log does is refused, so that no client trusts a gap", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  await org.call("DELETE", "/_sim/delete-log");
  clock.pass(120_000);

  const answer = await org.get(
    `sobjects/Contact/deleted?start=${encodeURIComponent("2026-02-03T04:00:00+00:00")}&end=${encodeURIComponent("2026-02-03T04:06:00+00:00")}`,
  );

  expect(answer.json[0]).toMatchObject({ errorCode: "INVALID_REPLICATION_DATE" });
});

test("an undeleted record is an update, no longer a deletion", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const id = await org.create("Contact", { LastName: "Rose" });
  await org.call("DELETE", `sobjects/Contact/${id}`);
  clock.pass(60_000);
  await org.soap(`<undelete><ids>${id}</ids></undelete>`);
  clock.pass(60_000);
  const window = `start=${encodeURIComponent("2026-02-03T04:05:00+00:00")}&end=${encodeURIComponent("2026-02-03T04:07:00+00:00")}`;

  expect((await org.get(`sobjects/Contact/deleted?${window}`)).json["deletedRecords"]).toEqual([]);
  expect((await org.get(`sobjects/Contact/updated?${window}`)).json["ids"]).toEqual([id]);
});

test("a merge leaves the master with all children and the others in the recycle bin, pointing to it", async () => {
  const org = await openOrg();
  const [master, loser] = [
    await org.create("Account", { Name: "Acme" }),
    await org.create("Account", { Name: "Acme Inc" }),
  ];
  const contact = await org.create("Contact", { LastName: "Rose", AccountId: loser });

  const answer = await org.soap(
    `<merge><request><masterRecord><type>Account</type><Id>${master}</Id><Industry>Energy</Industry></masterRecord><recordToMergeIds>${loser}</recordToMergeIds></request></merge>`,
  );

  expect(answer.text).toContain(
    `<result><id>${master}</id><mergedRecordIds>${loser}</mergedRecordIds><success>true</success><updatedRelatedIds>${contact}</updatedRelatedIds></result>`,
  );
  expect(await org.records("SELECT AccountId FROM Contact")).toMatchObject([{ AccountId: master }]);
  expect(
    await org.records("SELECT Id, IsDeleted, MasterRecordId, Industry FROM Account ORDER BY Name", "queryAll"),
  ).toMatchObject([
    { Id: master, IsDeleted: false, MasterRecordId: null, Industry: "Energy" },
    { Id: loser, IsDeleted: true, MasterRecordId: master },
  ]);
});

test("a record leaves the recycle bin after fifteen days, and a bulk job loses its results after seven", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const id = await org.create("Contact", { LastName: "Rose" });
  await org.call("DELETE", `sobjects/Contact/${id}`);
  const job = await org.call("POST", "jobs/ingest", { object: "Contact", operation: "insert" });
  await org.call("PATCH", `jobs/ingest/${job.json["id"]}`, { state: "Aborted" });

  clock.pass(14 * 24 * 3600 * 1000);
  const kept = await org.records("SELECT Id FROM Contact", "queryAll");
  const gone = await org.get(`jobs/ingest/${job.json["id"]}`);
  clock.pass(2 * 24 * 3600 * 1000);

  expect(kept).toMatchObject([{ Id: id }]);
  expect(gone.status).toBe(404);
  expect(await org.records("SELECT Id FROM Contact", "queryAll")).toEqual([]);
  expect((await org.soap(`<undelete><ids>${id}</ids></undelete>`)).text).toContain("<success>false</success>");
});

test("an org that lags covers less than it was asked for, and shows nothing beyond", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const id = await org.create("Contact", { LastName: "Gone" });
  clock.pass(240_000);
  await org.call("DELETE", `sobjects/Contact/${id}`);
  clock.pass(60_000);
  await org.call("POST", "/_sim/faults", { kind: "laggingReplication", object: "Contact", milliseconds: 120_000 });
  const window = `start=${encodeURIComponent("2026-02-03T04:00:00+00:00")}&end=${encodeURIComponent("2026-02-03T04:10:00+00:00")}`;

  const lagging = await org.get(`sobjects/Contact/deleted?${window}`);
  const after = await org.get(`sobjects/Contact/deleted?${window}`);

  expect(lagging.json).toMatchObject({ deletedRecords: [], latestDateCovered: "2026-02-03T04:08:00.000+0000" });
  expect(after.json).toMatchObject({ deletedRecords: [{ id }], latestDateCovered: "2026-02-03T04:10:00.000+0000" });
});

test("with the latency of a real org, 200 records of a call take a second and a job's part its share of half a minute", async () => {
  const waits: number[] = [];
  const clock = { now: () => new Date(START), sleep: async (milliseconds: number) => void waits.push(milliseconds) };
  const org = await openOrg({ clock, latency: readLatency("1,30") });

  const records = Array.from({ length: 200 }, (_, index) => ({
    attributes: { type: "Contact" },
    LastName: `L${index}`,
  }));
  await org.call("POST", "composite/sobjects", { records });
  await org.create("Contact", { LastName: "Alone" });
  const { json: job } = await org.call("POST", "jobs/ingest", { object: "Contact", operation: "insert" });
  await org.call("PUT", `jobs/ingest/${job["id"]}/batches`, `LastName\n${"Many\n".repeat(300)}`);
  await org.call("PATCH", `jobs/ingest/${job["id"]}`, { state: "UploadComplete" });
  await expect.poll(() => waits).toEqual([1_000, 5, 600, 300]);

  expect(() => readLatency("1,soon")).toThrow("two numbers of seconds");
});

test.each<[string, string, (org: Client) => Promise<unknown>]>([
  ["REST", "POST .*/sobjects/Account", (org) => org.create("Account", { Name: "Late" })],
  [
    "SOAP",
    "services/Soap",
    (org) => org.soap("<create><sObjects><type>Account</type><Name>Late</Name></sObjects></create>"),
  ],
])("a save by %s that begins late is stamped later than it was sent, as real ones are", async (_, path, save) => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  await org.call("POST", "/_sim/faults", { kind: "lateStart", path, milliseconds: 2_000 });

  const late = save(org);
  await clock.sleepers(1);
  expect(await org.records("SELECT Id FROM Account")).toEqual([]);
  clock.pass(2_000);
  await late;

  const [record] = await org.records("SELECT CreatedDate, LastModifiedDate, SystemModstamp FROM Account");
  const stamp = new Date(Math.floor((Date.parse(START) + 2_000) / 1_000) * 1_000).toISOString().replace("Z", "+0000");
  expect(record).toMatchObject({ CreatedDate: stamp, LastModifiedDate: stamp, SystemModstamp: stamp });
});
