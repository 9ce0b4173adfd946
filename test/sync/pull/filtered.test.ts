import { expect, test } from "vitest";
import { allInOneWorld, LOST, world } from "../world.ts";

const change = async (filter: string | null) => {
  await world.mapContact(["Department", "LastName"], { bridge: { filter } });
};
allInOneWorld(async () => {
  await world.create("Inside", { Department: "R&D" });
  await world.create("Outside", { Department: "Sales" });
  await change("Department = 'R&D' OR Department = 'IT'");
});

const move = (lastName: string, Department: string) => world.patch(lastName, { Department });
const departmentOf = async (lastName: string) =>
  (await world.soql(`SELECT Department FROM Contact WHERE LastName = '${lastName}'`))[0]?.["Department"];

test("a table has the rows whose records the filter holds for, as they come into it, leave it and come back, and nothing is deleted in Salesforce", async () => {
  expect(await world.names()).toEqual(["Inside"]);
  await move("Outside", "IT");
  await move("Inside", "Sales");
  await world.cycles();
  expect(await world.names()).toEqual(["Outside"]);
  await world.pass(5);
  await move("Inside", "R&D");
  await world.cycles();

  expect(await world.names()).toEqual(["Inside", "Outside"]);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 2 }]);
  expect(await world.changes()).toEqual([]);
});

test("a changed filter lets rows go whose records it does not hold for, and brings those it holds for, though none of them changed", async () => {
  await world.create("Elsewhere", { Department: "Legal" });
  await world.pass(3600);
  await world.cycles();
  const before = world.contact.configVersion;

  await change("Department IN ('R&D', 'Legal')");
  expect(await world.names()).toEqual(["Elsewhere", "Inside"]);
  expect(world.contact.configVersion).toBe(before + 1);
  await change(null);

  expect(await world.names()).toEqual(["Elsewhere", "Inside", "Outside"]);
  expect(await world.soql("SELECT count(Id) n FROM Contact")).toEqual([{ n: 3 }]);
  expect(await world.changes()).toEqual([]);
});

test("a record that leaves the filter because time passes leaves the table with the daily comparison", async () => {
  await change("CreatedDate = TODAY");
  expect(await world.names()).toEqual(["Elsewhere", "Inside", "Outside"]);

  await world.stopMinutes();
  await world.pass(86_400);
  await world.sweep();

  expect(await world.names()).toEqual([]);
});

test("what is written to the table is sent though the filter does not hold for it, also when its record leaves meanwhile, and its row goes then", async () => {
  await change("Department = 'R&D'");
  await world.sql("INSERT INTO salesforce.contact (lastname, department) VALUES ('Written', 'Sales')");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Renamed' WHERE lastname = 'Inside'");
  await move("Inside", "Sales");

  await world.cycles(2);

  expect([await departmentOf("Written"), await departmentOf("Renamed")]).toEqual(["Sales", "Sales"]);
  expect(await world.names()).toEqual([]);
  expect(await world.sql("SELECT DISTINCT reason FROM salesforce._bridge_tombstones")).toEqual([
    { reason: "left the filter" },
  ]);
});

test("a row that the application moves out of the filter leaves the table with the answer to that push", async () => {
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, department) VALUES ('Goes', 'R&D'), ('Stays', 'R&D'), ('Never', NULL)",
  );
  await world.cycles();
  expect(await world.names()).toEqual(["Goes", "Stays"]);
  await world.sql("UPDATE salesforce.contact SET department = 'Sales' WHERE lastname = 'Goes'");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Stays on' WHERE lastname = 'Stays'");
  const before = await world.calls();

  await world.cycles();

  expect(await world.names()).toEqual(["Stays on"]);
  // Two for the pull, one for the save, one to ask where the record is now.
  expect((await world.calls()) - before).toBe(4);
  expect(await departmentOf("Goes")).toBe("Sales");
  expect(new Set(await world.states())).toEqual(new Set(["SUCCESS"]));
});

test("a row whose update was in doubt when pulls passed it leaves when it is resolved", async () => {
  await world.sql("UPDATE salesforce.contact SET department = 'Sales' WHERE lastname = 'Stays on'");
  await world.fault(LOST);
  await world.cycles();
  // It is not known at once who has saved what when another user has saved it since.
  await world.patch("Stays on", { Title: "changed there" }, "colleague");
  for (let minutes = 0; minutes < 10; minutes += 2) {
    await world.pass(120);
    await world.cycles();
  }
  expect(await world.names()).toEqual(["Stays on"]);

  await world.pass(120);
  await world.cycles();

  expect(await world.names()).toEqual([]);
});

test("a row that gets another parent by its external id leaves with the answer, too, where the filter names the lookup", async () => {
  await world.rest("POST", "/sobjects/Account", { Name: "First", External_Id__c: "A-1" });
  await world.mapContact(["Account.External_Id__c", "LastName"], { bridge: { filter: "AccountId = NULL" } });
  await world.sql("UPDATE salesforce.contact SET account__external_id__c = 'A-1' WHERE lastname = 'Never'");
  await world.cycles();
  expect(await world.names()).not.toContain("Never");
});
