import { describe, expect, test } from "vitest";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { eachInAWorld, LOST, NEVER_ARRIVED, world } from "../world.ts";

eachInAWorld();

const mapContact = (upsertField?: string) =>
  world.mapContact(["Email", "External_Id__c", "LastName"], upsertField ? { upsertField } : {});

const rows = () => world.sql("SELECT lastname, sfid, _ab_lastop FROM salesforce.contact ORDER BY id");
const records = () => world.soql("SELECT Id, LastName FROM Contact ORDER BY Id");
const saves = async () => (await world.requested()).filter(({ api }) => api === "SOAP").length;

describe("an insert whose answer was lost", () => {
  test("is sent again at once by its upsert field, and makes one record", async () => {
    await mapContact("External_Id__c");
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', 'C-1')");
    await world.fault(LOST);

    await world.cycles();
    expect(await world.states()).toEqual(["PENDING"]);
    await world.cycles();

    const [record, ...others] = await records();
    expect(others).toEqual([]);
    expect(await rows()).toEqual([{ lastname: "Curie", sfid: record?.["Id"], _ab_lastop: "INSERTED" }]);
    expect(await world.states()).toEqual(["SUCCESS"]);
  });

  test("waits eleven minutes without an upsert field and makes no second row; then what arrived is found, of equal rows each its own, and what did not is sent again", async () => {
    await mapContact();
    await world.control("POST", "/clock", { advanceMilliseconds: -90_000 }); // the org's
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie'), ('Twin'), ('Twin')");
    await world.fault(LOST);
    await world.cycles();
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Meitner')");
    await world.fault(NEVER_ARRIVED);
    await world.cycles(2);
    expect(await world.states()).toEqual(Array(4).fill("PENDING"));
    expect(await rows()).toHaveLength(4);
    expect(await records()).toHaveLength(3);

    await world.untilKnown(1);

    const found = await records();
    expect(found.map(({ LastName }) => LastName).sort()).toEqual(["Curie", "Meitner", "Twin", "Twin"]);
    expect((await rows()).map(({ lastname, sfid }) => [sfid, lastname]).sort()).toEqual(
      found.map(({ Id, LastName }) => [Id, LastName]).sort(),
    );
    expect(await world.states()).toEqual(Array(4).fill("SUCCESS"));
  });

  test("whose record Salesforce commits ten minutes after it was sent is found, and not sent twice", async () => {
    await mapContact();
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
    await world.fault(NEVER_ARRIVED);
    await world.cycles();
    await world.pass(600);
    const late = await world.rest("POST", "/sobjects/Contact", { LastName: "Curie" });

    await world.pass(60);
    await world.cycles();

    expect((await records()).map(({ LastName }) => LastName)).toEqual(["Curie"]);
    expect(await rows()).toMatchObject([{ sfid: (late as { id: string }).id }]);
    expect(await world.states()).toEqual(["SUCCESS"]);
  });

  test("ends FAILED with the reason when more records fit than rows", async () => {
    await mapContact();
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Twin')");
    await world.fault(LOST);
    await world.cycles();
    await world.rest("POST", "/sobjects/Contact", { LastName: "Twin" });

    await world.untilKnown(1);

    const message = expect.stringContaining("IN_DOUBT");
    expect(await world.sql("SELECT state, sf_message AS message FROM salesforce._trigger_log")).toEqual([
      { state: "FAILED", message },
    ]);
  });
});

describe("an update whose answer was lost", () => {
  const updated = async (upsertField?: string) => {
    await mapContact(upsertField);
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Sklodowska', 'C-1')");
    await world.cycles();
    await world.pass(60);
    await world.control("POST", "/clock", { advanceMilliseconds: -900 }); // the org's; its stamps have whole seconds
    await world.sql("UPDATE salesforce.contact SET lastname = 'Curie'");
  };
  const found = () => world.soql("SELECT LastName, Email FROM Contact");
  const both = [{ LastName: "Curie", Email: "m@example.com" }];

  test.each(firstInGate(1, [undefined, "External_Id__c"]))(
    "and that was saved is done with the next cycle, upsert field %s",
    async (upsertField) => {
      await updated(upsertField);
      await world.fault(LOST);
      await world.cycles();
      await world.sql("UPDATE salesforce.contact SET email = 'm@example.com'");
      await world.control("DELETE", "/requests");

      await world.cycles();

      expect(await world.states()).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
      expect(await found()).toEqual(both);
      expect(await saves(), "of the newer change alone").toBe(1);
    },
  );

  test("and that never arrived waits eleven minutes and is sent again, and so does a newer change, though another user has made the record what was sent", async () => {
    await updated("External_Id__c");
    await world.fault(NEVER_ARRIVED);
    await world.cycles();
    await world.sql("UPDATE salesforce.contact SET email = 'm@example.com'");
    const [record] = await records();
    await world.colleague("PATCH", `/sobjects/Contact/${record?.["Id"]}`, { LastName: "Curie" });

    await world.cycles();
    expect(await world.states()).toEqual(["SUCCESS", "PENDING", "NEW"]);
    await world.untilKnown(1);

    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
    expect(await found()).toEqual(both);
  });

  test("and that commits minutes later undoes nothing that was changed since", async () => {
    await updated("External_Id__c");
    await world.fault(NEVER_ARRIVED);
    await world.cycles();
    await world.sql("UPDATE salesforce.contact SET lastname = 'Joliot'");
    for (let minutes = 0; minutes < 4; minutes += 2) {
      await world.pass(120);
      await world.cycles();
    }
    // As our own save does when it gets through at last.
    const [record] = await records();
    await world.rest("PATCH", `/sobjects/Contact/${record?.["Id"]}`, { LastName: "Curie" });
    await world.cycles();

    expect(await world.states()).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
    expect(await found()).toEqual([{ LastName: "Joliot", Email: null }]);
  });
});
