import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { allInOneWorld, world } from "./world.ts";

const TEXT = 'a "quote", it\'s <b>bold</b> & more;\r\n\ttabbed – ünïcödé 🎈 \\ end';
const FIELDS = ["Amount", "CloseDate", "Description", "IsPrivate", "Name", "NextStep", "Probability", "StageName"];

let opportunity: Mapping;
let task: Mapping;
/** Calls that others made before the first cycle, the import's describes among them. */
let foreignCalls: number;
allInOneWorld(async () => {
  const taskFields = ["ActivityDate", "ReminderDateTime", "Subject"];
  await world.map({ object: "Opportunity", fields: FIELDS }, { object: "Task", fields: taskFields });
  [opportunity, task] = [await world.mappingOf("Opportunity"), await world.mappingOf("Task")];
  foreignCalls = (await world.calls()) - (await countedCalls());
});

const countedCalls = async () =>
  (await world.sql("SELECT api_calls FROM salesforce._bridge_state"))
    .flatMap((row) => Object.values(row["api_calls"] as Record<string, number>))
    .reduce((sum, calls) => sum + calls, 0);
const COLUMNS = "amount::text, closedate::text, description, isprivate, nextstep, probability::text";
const inRow = async (name: string) =>
  (await world.sql(`SELECT ${COLUMNS} FROM salesforce.opportunity WHERE name = $1`, [name]))[0];
const inOrg = async (name: string) =>
  (await world.soql(`SELECT Id, ${FIELDS.join(", ")} FROM Opportunity WHERE Name = '${name}'`))[0];

test("values of every kind travel both ways as they are", async () => {
  await world.sql(
    `INSERT INTO salesforce.opportunity (name, stagename, amount, closedate, description, isprivate, nextstep, probability)
     VALUES ('Out', 'Prospecting', 1234567.80, '2026-02-28', $1, true, NULL, 12.5)`,
    [TEXT],
  );
  const values = { Amount: 7654321.09, CloseDate: "2026-12-31", Description: TEXT, IsPrivate: true };
  await world.rest("POST", "/sobjects/Opportunity", { Name: "In", StageName: "Prospecting", ...values });

  await world.cycle(opportunity);

  expect(await world.changes()).toEqual([{ action: "INSERT", state: "SUCCESS" }]);
  const out = { Amount: 1234567.8, CloseDate: "2026-02-28", Description: TEXT, IsPrivate: true, NextStep: null };
  expect(await inOrg("Out")).toMatchObject(out);
  expect(await inRow("In")).toMatchObject({
    ...{ amount: "7654321.09", closedate: "2026-12-31" },
    ...{ description: TEXT, isprivate: true, nextstep: null },
  });
});

test("a value set to NULL here is null there, and the other way round", async () => {
  await world.sql("UPDATE salesforce.opportunity SET description = NULL, isprivate = NULL WHERE name = 'Out'");
  const found = await inOrg("In");
  const values = { Description: null, Amount: null, NextStep: "begun" };
  await world.rest("PATCH", `/sobjects/Opportunity/${found?.["Id"]}`, values);

  await world.cycles(2, opportunity);

  expect(await inOrg("Out")).toMatchObject({ Description: null, IsPrivate: false });
  // Salesforce knows no unset checkbox, and the row gets it.
  expect(await inRow("Out")).toMatchObject({ description: null, isprivate: false });
  expect(await inRow("In")).toMatchObject({ description: null, amount: null, nextstep: "begun" });
});

test("an instant is the same instant on both sides, whatever the session's time zone", async () => {
  await world.sql("SET TIME ZONE 'Asia/Kolkata'");
  await world.sql(
    "INSERT INTO salesforce.task (subject, activitydate, reminderdatetime) VALUES ('Call', '2026-03-29', '2026-03-29 02:30:00+02')",
  );

  await world.cycle(task);
  const [record] = await world.soql("SELECT Id, ReminderDateTime, ActivityDate FROM Task");
  expect(record).toMatchObject({ ReminderDateTime: "2026-03-29T00:30:00.000+0000", ActivityDate: "2026-03-29" });
  await world.rest("PATCH", `/sobjects/Task/${record?.["Id"]}`, { ReminderDateTime: "2026-10-25T00:30:00.000Z" });
  await world.cycle(task);

  const [row] = await world.sql("SELECT reminderdatetime AT TIME ZONE 'UTC' AS at FROM salesforce.task");
  expect(String(row?.["at"])).toContain("00:30:00");
});

test("what Salesforce rounds or trims comes back, and is not sent again", async () => {
  await world.sql("UPDATE salesforce.opportunity SET nextstep = 'trailing   ' WHERE name = 'Out'");
  await world.cycles(2, opportunity);
  const before = await world.changes();

  await world.cycle(opportunity);

  expect(await inRow("Out")).toMatchObject({ nextstep: "trailing" });
  expect(await world.changes()).toEqual(before);
});

test("1,000 rows take five saving calls, and every call is counted as the org counts it", async () => {
  const before = await world.calls();
  await world.sql("INSERT INTO salesforce.task (subject) SELECT 'Crowd' FROM generate_series(1, 1000)");

  await world.cycle(task);

  expect((await world.calls()) - before).toBeLessThanOrEqual(5 + 1);
  expect(await world.soql("SELECT count(Id) n FROM Task WHERE Subject = 'Crowd'")).toEqual([{ n: 1000 }]);
  expect(await countedCalls()).toBe((await world.calls()) - foreignCalls);
});
