import { expect, test } from "vitest";
import { type Client, ManualClock, openOrg } from "./support/open-org.ts";

const START = "2026-02-03T04:05:06Z";

const windowOf = (start: string, end: string) =>
  `start=${encodeURIComponent(`2026-02-03T${start}+00:00`)}&end=${encodeURIComponent(`2026-02-03T${end}+00:00`)}`;

async function hold(org: Client, milliseconds: number, path = "POST .*/sobjects/Contact"): Promise<void> {
  await org.call("POST", "/_sim/faults", { kind: "heldCommit", path, milliseconds });
}

test("a commit that is held back appears later, under the stamp of its beginning, which no window covers before", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  await hold(org, 600_000);
  const window = windowOf("04:00:00", "04:10:00");

  const slow = org.create("Contact", { LastName: "Slow" });
  await clock.sleepers(1);
  clock.pass(30_000);
  await org.create("Contact", { LastName: "Quick" });
  clock.pass(270_000);
  const before = await org.records("SELECT LastName FROM Contact");
  const during = await org.get(`sobjects/Contact/updated?${window}`);
  clock.pass(300_000);
  await slow;
  const after = await org.get(`sobjects/Contact/updated?${window}`);

  expect(before).toMatchObject([{ LastName: "Quick" }]);
  expect(during.json["latestDateCovered"]).toBe("2026-02-03T04:05:00.000+0000");
  expect(after.json["latestDateCovered"]).toBe("2026-02-03T04:10:00.000+0000");
  expect(after.json["ids"]).toHaveLength(2);
  expect(await org.records("SELECT LastName, SystemModstamp FROM Contact ORDER BY SystemModstamp")).toMatchObject([
    { LastName: "Slow", SystemModstamp: "2026-02-03T04:05:06.000+0000" },
    { LastName: "Quick", SystemModstamp: "2026-02-03T04:05:36.000+0000" },
  ]);
});

const UPSERT =
  "<upsert><externalIDFieldName>External_Id__c</externalIDFieldName><sObjects><type>Contact</type><External_Id__c>C-1</External_Id__c><LastName>Quick</LastName></sObjects></upsert>";

test.each<[string, (org: Client, id: string) => Promise<{ readonly text: string }>]>([
  ["an update", (org, id) => org.call("PATCH", `sobjects/Contact/${id}`, { LastName: "Quick" })],
  ["an upsert by SOAP", (org) => org.soap(UPSERT)],
])(
  "a record that an open transaction holds is not changed by %s, which gives up after ten seconds",
  async (_, save) => {
    const clock = new ManualClock(START);
    const org = await openOrg({ clock });
    const id = await org.create("Contact", { LastName: "Rose", External_Id__c: "C-1" });
    await hold(org, 60_000, "PATCH .*/sobjects/Contact/003");
    const slow = org.call("PATCH", `sobjects/Contact/${id}`, { LastName: "Slow" });
    await clock.sleepers(1);

    const quick = save(org, id);
    await clock.sleepers(2);
    clock.pass(10_000);
    const refused = await quick;
    clock.pass(50_000);
    await slow;

    expect(refused.text).toContain("UNABLE_TO_LOCK_ROW");
    expect(await org.records("SELECT LastName, SystemModstamp FROM Contact")).toMatchObject([
      { LastName: "Slow", SystemModstamp: "2026-02-03T04:05:06.000+0000" },
    ]);
  },
);

test("the delete log knows what has left the recycle bin, not what was undeleted, and nothing before it begins", async () => {
  const clock = new ManualClock(START);
  const org = await openOrg({ clock });
  const gone = await org.create("Contact", { LastName: "Rose" });
  const back = await org.create("Contact", { LastName: "Lily" });
  for (const id of [gone, back]) await org.call("DELETE", `sobjects/Contact/${id}`);
  clock.pass(60_000);
  await org.soap(`<undelete><ids>${back}</ids></undelete>`);
  await org.call("DELETE", "/_sim/recycle-bin");
  clock.pass(60_000);
  const window = windowOf("04:05:00", "04:07:00");

  const deleted = await org.get(`sobjects/Contact/deleted?${window}`);
  const updated = await org.get(`sobjects/Contact/updated?${window}`);
  await org.call("DELETE", "/_sim/delete-log");
  const without = await org.get(`sobjects/Contact/deleted?${window}`);

  expect(deleted.json["deletedRecords"]).toEqual([{ id: gone, deletedDate: "2026-02-03T04:05:06.000+0000" }]);
  expect(updated.json["ids"]).toEqual([back]);
  expect(await org.records("SELECT Id FROM Contact", "queryAll")).toMatchObject([{ Id: back }]);
  expect(without.json[0]).toMatchObject({ errorCode: "INVALID_REPLICATION_DATE" }); // no client trusts a gap
});
