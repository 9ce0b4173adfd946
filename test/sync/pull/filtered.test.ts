import { expect, test } from "vitest";
import { schedules } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { mapped } from "../../support/worlds/worlds.ts";
import { aWorldForAllTests, idOf, LOST } from "../world.ts";

let world: SyncWorld;
let contact: Mapping;
const change = async (filter: string | null) => {
  contact = await mapped(world, { object: "Contact", fields: ["Department", "LastName"], bridge: { filter } });
};
aWorldForAllTests(async (made) => {
  world = made.world;
  await world.createRecords("Contact", [
    { LastName: "Inside", Department: "R&D" },
    { LastName: "Outside", Department: "Sales" },
  ]);
  await change("Department = 'R&D' OR Department = 'IT'");
});

const names = async () =>
  (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).map(({ lastname }) => lastname);
const move = async (lastName: string, Department: string) =>
  world.rest("PATCH", `/sobjects/Contact/${await idOf(world, lastName)}`, { Department });
const departmentOf = async (lastName: string) =>
  (await world.soql(`SELECT Department FROM Contact WHERE LastName = '${lastName}'`))[0]?.["Department"];

test("a table has the rows whose records the filter holds for, as they come into it, leave it and come back, and nothing is deleted in Salesforce", async () => {
  expect(await names()).toEqual(["Inside"]);
  await move("Outside", "IT");
  await move("Inside", "Sales");
  await world.cycle(contact);
  expect(await names()).toEqual(["Outside"]);
  await world.pass(5);
  await move("Inside", "R&D");
  await world.cycle(contact);

  expect(await names()).toEqual(["Inside", "Outside"]);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 2 }]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("a changed filter lets rows go whose records it does not hold for, and brings those it holds for, though none of them changed", async () => {
  await world.createRecords("Contact", [{ LastName: "Elsewhere", Department: "Legal" }]);
  await world.pass(3600);
  await world.cycle(contact);
  const before = contact.configVersion;

  await change("Department IN ('R&D', 'Legal')");
  expect(await names()).toEqual(["Elsewhere", "Inside"]);
  expect(contact.configVersion).toBe(before + 1);
  await change(null);

  expect(await names()).toEqual(["Elsewhere", "Inside", "Outside"]);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 3 }]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
});

test("a record that leaves the filter because time passes leaves the table with the daily comparison", async () => {
  await change("CreatedDate = TODAY");
  expect(await names()).toEqual(["Elsewhere", "Inside", "Outside"]);

  for await (const { mappingId } of schedules().list()) await schedules().remove(mappingId); // of the day that passes no minute counts
  await world.pass(86_400);
  await world.work(contact, "sweep");

  expect(await names()).toEqual([]);
});

test("what is written to the table is sent though the filter does not hold for it, also when its record leaves meanwhile, and its row goes then", async () => {
  await change("Department = 'R&D'");
  await world.sql("INSERT INTO salesforce.contact (lastname, department) VALUES ('Written', 'Sales')");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Renamed' WHERE lastname = 'Inside'");
  await move("Inside", "Sales");

  await world.cycle(contact);
  await world.cycle(contact);

  expect([await departmentOf("Written"), await departmentOf("Renamed")]).toEqual(["Sales", "Sales"]);
  expect(await names()).toEqual([]);
  expect(await world.sql("SELECT DISTINCT reason FROM salesforce._bridge_tombstones")).toEqual([
    { reason: "left the filter" },
  ]);
});

test("a row that the application moves out of the filter leaves the table with the answer to that push", async () => {
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
  expect(await departmentOf("Goes")).toBe("Sales");
  expect(await world.sql("SELECT DISTINCT state FROM salesforce._trigger_log")).toEqual([{ state: "SUCCESS" }]);
});

test("a row whose update was in doubt when pulls passed it leaves when it is resolved", async () => {
  await world.sql("UPDATE salesforce.contact SET department = 'Sales' WHERE lastname = 'Stays on'");
  await world.fault(LOST);
  await world.cycle(contact);
  // It is not known at once who has saved what when another user has saved it since.
  await world.colleague("PATCH", `/sobjects/Contact/${await idOf(world, "Stays on")}`, { Title: "changed there" });
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
    await move("Elsewhere", "R&D");
    await change("Department = 'R&D'");
    expect(await names()).toEqual(["Elsewhere"]);
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
    await world.cloud.take("cycles");
    await move("Elsewhere", "Sales");

    expect(await beat()).toBe(1);
    for (const message of (await world.cloud.take("cycles")) as { mapping_id: string }[]) {
      const pulled = all.find(({ id }) => id === message.mapping_id);
      if (pulled) await world.cycle(pulled, "pull");
    }

    expect(await names()).toEqual([]);
  },
);
