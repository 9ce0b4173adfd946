import { afterAll, beforeAll, expect, test } from "vitest";
import { schedules } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type SyncWorld } from "../../support/worlds/sync-world.ts";
import { mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  await world.createRecords("Contact", [
    { LastName: "Inside", Department: "R&D" },
    { LastName: "Outside", Department: "Sales" },
  ]);
  contact = await mapped(world, {
    object: "Contact",
    fields: ["Department", "LastName"],
    bridge: { filter: "Department = 'R&D' OR Department = 'IT'" },
  });
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

const names = async () =>
  (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).map(({ lastname }) => lastname);
const move = async (lastName: string, department: string) => {
  const [found] = await world.soql(`SELECT Id FROM Contact WHERE LastName = '${lastName}'`);
  await world.rest("PATCH", `/sobjects/Contact/${found?.["Id"]}`, { Department: department });
};

test("only what the filter holds for is loaded", async () => {
  expect(await names()).toEqual(["Inside"]);
});

test("a record that comes into the filter arrives, one that leaves it goes, and nothing is deleted in Salesforce", async () => {
  await move("Outside", "IT");
  await move("Inside", "Sales");

  await world.cycle(contact);

  expect(await names()).toEqual(["Outside"]);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 2 }]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("a record that comes back into the filter comes back into the table", async () => {
  await world.pass(5);
  await move("Inside", "R&D");

  await world.cycle(contact);

  expect(await names()).toEqual(["Inside", "Outside"]);
});

const change = async (filter: string | null) => {
  contact = await mapped(world, { object: "Contact", fields: ["Department", "LastName"], bridge: { filter } });
};

test("a changed filter lets rows go whose records it does not hold for, and brings those it holds for, though none of them changed", async () => {
  await world.createRecords("Contact", [{ LastName: "Elsewhere", Department: "Legal" }]);
  await world.pass(3600);
  await world.cycle(contact);
  const before = contact.configVersion;

  await change("Department IN ('R&D', 'Legal')");

  expect(await names()).toEqual(["Elsewhere", "Inside"]);
  expect(contact.configVersion).toBe(before + 1);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 3 }]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("without a filter every record is there again, also one whose row had left the table", async () => {
  await change(null);

  expect(await names()).toEqual(["Elsewhere", "Inside", "Outside"]);
});

test("a record that leaves the filter because time passes leaves the table with the daily comparison", async () => {
  await change("CreatedDate = TODAY");
  expect(await names()).toEqual(["Elsewhere", "Inside", "Outside"]);

  for await (const { mappingId } of schedules().list()) await schedules().remove(mappingId); // of the day that passes no minute counts
  await world.pass(86_400);
  await world.work(contact, "sweep");

  expect(await names()).toEqual([]);
});

test("what is written to the table is sent though the filter does not hold for it, and its row goes then", async () => {
  await change("Department = 'R&D'");
  await world.sql("INSERT INTO salesforce.contact (lastname, department) VALUES ('Written', 'Sales')");

  await world.cycle(contact);
  await world.cycle(contact);

  expect(await world.soql("SELECT Department FROM Contact WHERE LastName = 'Written'")).toEqual([
    { Department: "Sales" },
  ]);
  expect(await names()).toEqual(["Inside"]);
});

test("a change that waits on a row whose record leaves the filter is sent before the row goes", async () => {
  await world.sql("UPDATE salesforce.contact SET lastname = 'Renamed' WHERE lastname = 'Inside'");
  await move("Inside", "Sales");

  await world.cycle(contact);
  await world.cycle(contact);

  expect(await world.soql("SELECT LastName FROM Contact WHERE LastName IN ('Inside', 'Renamed')")).toEqual([
    { LastName: "Renamed" },
  ]);
  expect(await names()).toEqual([]);
  expect(await world.sql("SELECT DISTINCT reason FROM salesforce._bridge_tombstones")).toEqual([
    { reason: "left the filter" },
  ]);
});

test("a row that the application moves out of the filter leaves the table with the answer to that push", async () => {
  await change("Department = 'R&D'");
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, department) VALUES ('Goes', 'R&D'), ('Stays', 'R&D'), ('Never', NULL)",
  );
  await world.cycle(contact);
  expect(await names()).toEqual(["Goes", "Stays"]);
  await world.sql("UPDATE salesforce.contact SET department = 'Sales' WHERE lastname = 'Goes'");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Stays on' WHERE lastname = 'Stays'");
  const before = await world.calls();

  await world.cycle(contact);

  expect(await names()).toEqual(["Stays on"]);
  // Two for the pull, one for the save, one to ask where the record is now.
  expect((await world.calls()) - before).toBe(4);
  expect(await world.soql("SELECT Department FROM Contact WHERE LastName = 'Goes'")).toEqual([{ Department: "Sales" }]);
  expect(await world.sql("SELECT DISTINCT state FROM salesforce._trigger_log")).toEqual([{ state: "SUCCESS" }]);
});

test("a row whose update was in doubt when pulls passed it leaves when it is resolved", async () => {
  await world.sql("UPDATE salesforce.contact SET department = 'Sales' WHERE lastname = 'Stays on'");
  await world.fault({ kind: "saveThenDrop", path: "services/Soap" });
  await world.cycle(contact);
  // It is not known at once who has saved what when another user has saved it since.
  const [record] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Stays on'");
  await world.colleague("PATCH", `/sobjects/Contact/${record?.["Id"]}`, { Title: "changed there" });
  for (let minutes = 0; minutes < 10; minutes += 2) {
    await world.pass(120);
    await world.cycle(contact);
  }
  expect(await names()).toEqual(["Stays on"]);

  await world.pass(120);
  await world.cycle(contact);

  expect(await names()).toEqual([]);
});

longTest(
  "beside other mappings a record that leaves the filter is noticed by the very next probe, and asking costs no call of its own",
  async () => {
    await change(null);
    await world.map({ object: "Account", fields: ["Name"] });
    const all = await world.mappings();
    const [inside] = (await world.soql("SELECT LastName FROM Contact ORDER BY LastName LIMIT 1")).map(
      (one) => one["LastName"],
    );
    await move(String(inside), "R&D");
    await change("Department = 'R&D'");
    expect(await names()).toEqual([inside]);
    const beat = async () => {
      await world.pass(10);
      const before = await world.calls();
      await world.beat(all);
      return (await world.calls()) - before;
    };
    await beat(); // looks for late commits, too
    await world.pass(120);
    await beat();
    expect(await beat()).toBe(1);
    await cloud.take("cycles");
    await move(String(inside), "Sales");

    expect(await beat()).toBe(1);
    for (const message of (await cloud.take("cycles")) as { mapping_id: string }[]) {
      const pulled = all.find(({ id }) => id === message.mapping_id);
      if (pulled) await world.cycle(pulled, "pull");
    }

    expect(await names()).toEqual([]);
  },
);
