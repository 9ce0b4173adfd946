import { afterAll, beforeAll, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type Row, type SyncWorld } from "../support/worlds/sync-world.ts";

const TEXT = 'a "quote", it\'s <b>bold</b> & more;\r\n\ttabbed – ünïcödé 🎈 \\ end';
const FIELDS = ["Amount", "CloseDate", "Description", "IsPrivate", "Name", "NextStep", "Probability", "StageName"];

let cloud: BridgeCloud;
let world: SyncWorld;
let opportunity: Mapping;
let task: Mapping;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  const mappings = await world.map(
    { object: "Opportunity", fields: FIELDS },
    { object: "Task", fields: ["ActivityDate", "ReminderDateTime", "Subject"] },
  );
  const [first, second] = mappings;
  if (!first || !second) throw new Error("the mappings were not made");
  [opportunity, task] = [first, second];
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});

const failed = () => world.sql("SELECT sf_message FROM salesforce._trigger_log WHERE state <> 'SUCCESS'");
const inRow = async (name: string): Promise<Row | undefined> =>
  (
    await world.sql(
      `SELECT amount::text, closedate::text, description, isprivate, nextstep, probability::text
       FROM salesforce.opportunity WHERE name = $1`,
      [name],
    )
  )[0];
const inOrg = async (name: string): Promise<Row | undefined> =>
  (
    await world.soql(
      `SELECT Amount, CloseDate, Description, IsPrivate, NextStep, Probability FROM Opportunity WHERE Name = '${name}'`,
    )
  )[0];

test("values of every kind travel to Salesforce as they are", async () => {
  await world.sql(
    `INSERT INTO salesforce.opportunity (name, stagename, amount, closedate, description, isprivate, nextstep, probability)
     VALUES ('Out', 'Prospecting', 1234567.80, '2026-02-28', $1, true, NULL, 12.5)`,
    [TEXT],
  );

  await world.cycle(opportunity);

  expect(await failed()).toEqual([]);
  expect(await inOrg("Out")).toMatchObject({
    Amount: 1234567.8,
    CloseDate: "2026-02-28",
    Description: TEXT,
    IsPrivate: true,
    NextStep: null,
  });
});

test("values of every kind travel from Salesforce as they are", async () => {
  await world.rest("POST", "/sobjects/Opportunity", {
    Name: "In",
    StageName: "Prospecting",
    Amount: 7654321.09,
    CloseDate: "2026-12-31",
    Description: TEXT,
    IsPrivate: true,
  });

  await world.cycle(opportunity);

  expect(await inRow("In")).toMatchObject({
    amount: "7654321.09",
    closedate: "2026-12-31",
    description: TEXT,
    isprivate: true,
    nextstep: null,
  });
});

test("a value set to NULL here is null there, and the other way round", async () => {
  await world.sql("UPDATE salesforce.opportunity SET description = NULL, isprivate = NULL WHERE name = 'Out'");
  const [found] = await world.soql("SELECT Id FROM Opportunity WHERE Name = 'In'");
  await world.rest("PATCH", `/sobjects/Opportunity/${found?.["Id"]}`, { Description: null, Amount: null });

  await world.cycle(opportunity);
  await world.cycle(opportunity);

  expect(await inOrg("Out")).toMatchObject({ Description: null, IsPrivate: false });
  // Salesforce knows no unset checkbox, and the row gets it.
  expect(await inRow("Out")).toMatchObject({ description: null, isprivate: false });
  expect(await inRow("In")).toMatchObject({ description: null, amount: null });
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
  await world.cycle(opportunity);
  await world.cycle(opportunity);
  const before = await world.sql("SELECT count(*)::int AS n FROM salesforce._trigger_log");

  await world.cycle(opportunity);

  expect(await inRow("Out")).toMatchObject({ nextstep: "trailing" });
  expect(await world.sql("SELECT count(*)::int AS n FROM salesforce._trigger_log")).toEqual(before);
});
