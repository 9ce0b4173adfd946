import { beforeEach, describe, expect, test } from "vitest";
import { firstInGate } from "../support/run/whole-grid.ts";
import { eachInAWorld, LOST, world } from "./world.ts";

eachInAWorld();

const map = (upsertField?: string, bridge: Record<string, unknown> = {}) =>
  world.mapContact(["Email", "External_Id__c", "LastName"], { bridge, ...(upsertField && { upsertField }) });
const insert = "INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', 'C-1')";
/** Both sides are equal and like these, and no change is open. */
async function expectBoth(...expected: readonly object[]): Promise<void> {
  const { rows, records } = await world.bothSides();
  expect(rows).toMatchObject(expected);
  expect(records).toEqual(rows);
  expect((await world.states()).filter((state) => state === "NEW" || state === "PENDING")).toEqual([]);
}

describe.each(
  firstInGate(1, [
    ["without an upsert field", undefined],
    ["with an upsert field", "External_Id__c"],
  ]),
)("a pull between a lost answer and its settling, %s,", (_, upsertField) => {
  beforeEach(async () => {
    await map(upsertField);
    await world.sql(insert);
  });
  const loseAnswer = async (statement?: string) => {
    if (statement) {
      await world.cycles();
      await world.sql(statement);
    }
    await world.fault(LOST);
    await world.cycles();
  };
  const settle = async () => {
    await world.sweep();
    await world.untilKnown();
  };

  test("makes no second row of an insert", async () => {
    await loseAnswer();
    await settle();
    await expectBoth({ LastName: "Curie" });
  });

  test("neither undoes an update nor what was changed there in the meantime", async () => {
    await loseAnswer("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
    await world.patch("Sklodowska", { Email: "m@example.com" });
    await settle();
    await expectBoth({ LastName: "Sklodowska", Email: "m@example.com" });
  });

  test("brings no row back whose delete was carried out", async () => {
    await loseAnswer("DELETE FROM salesforce.contact");
    await settle();
    await expectBoth();
  });
});

test.each(firstInGate(1, [true, false]))(
  "a row that is deleted while its update was saved without an answer (%s), or not sent yet, stays deleted, although a pull meets its record",
  async (isSent) => {
    await map("External_Id__c");
    await world.create("Curie", { External_Id__c: "C-1" });
    await world.cycles();
    await world.sql("UPDATE salesforce.contact SET email = 'a@example.com'");
    if (isSent) {
      await world.fault(LOST);
      await world.cycles();
      await world.sql("UPDATE salesforce.contact SET email = 'b@example.com'");
    }
    await world.sql("DELETE FROM salesforce.contact");

    await world.cycles(2);
    await world.untilKnown();

    await expectBoth();
  },
);

test("delete then insert with one upsert value ends as the new row alone, also when the answer between is lost", async () => {
  await map("External_Id__c");
  await world.sql(insert);
  await world.cycles();
  for (const nth of [1, 2]) {
    await world.sql("DELETE FROM salesforce.contact");
    await world.sql(insert.replace("Curie", `Curie ${nth}`));
    await world.fault({ ...LOST, nth });

    await world.cycles(3);

    await expectBoth({ LastName: `Curie ${nth}` });
    await world.control("DELETE", "/faults");
  }
});
