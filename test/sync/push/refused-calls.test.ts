import { expect, test } from "vitest";
import { eachInAWorld, world } from "../world.ts";

/** A call of 200 records that Salesforce refuses as a whole, for the sake of what is in it. */

eachInAWorld(() => world.mapContact(["Email", "LastName"]));

const REASON = "'12,5' is not a valid value for the type xsd:double";
const poison = (name: string) =>
  world.fault({ kind: "malformedRequest", path: "services/Soap", record: `>${name}<`, message: REASON, times: 0 });

const insertMany = (count: number) =>
  world.sql(
    "INSERT INTO salesforce.contact (lastname) SELECT 'L' || lpad(i::text, 3, '0') FROM generate_series(1, $1) i",
    [count],
  );
const saves = () => Number(world.log.findLast(({ event }) => event === "cycle")?.["saves"]);
const lastFailure = () => world.log.findLast(({ level }) => level === "error")?.["reason"];

test("one record that makes Salesforce refuse the whole call ends FAILED alone, also in a call of its own, and the rest continues", async () => {
  await insertMany(200);
  await poison("L137");

  await world.cycles();

  expect(await world.countStates()).toEqual({ FAILED: 1, SUCCESS: 199 });
  expect(await world.sql("SELECT lastname, _ab_err FROM salesforce.contact WHERE _ab_lastop = 'FAILED'")).toEqual([
    { lastname: "L137", _ab_err: `Client: ${REASON}` },
  ]);
  expect(saves()).toBeLessThanOrEqual(17);
  expect(await world.countRecords()).toBe(199);

  await world.insert("L137");
  await world.cycles();

  expect(await world.countStates()).toEqual({ FAILED: 2, SUCCESS: 199 });
});

test.each([10, 18])(
  "a field that is gone fails the rows that changed it, and lets the others through (%i do not)",
  async (count) => {
    await insertMany(20);
    await world.cycles();
    const message = "No such column 'Email' on entity 'Contact'";
    const gone = { kind: "malformedRequest", path: "services/Soap", record: "Email>", code: "INVALID_FIELD", message };
    await world.fault({ ...gone, times: 0 });
    await world.sql("UPDATE salesforce.contact SET lastname = lastname || '!' WHERE id <> 4");
    await world.sql("UPDATE salesforce.contact SET email = 'a@example.com' WHERE id = 4");

    await world.cycles();

    expect(await world.countStates()).toEqual({ FAILED: 1, SUCCESS: 39 });
    await world.sql("UPDATE salesforce.contact SET email = 'b@example.com' WHERE id > $1", [count]);
    await world.cycles();
    expect(
      await world.countStates(),
      "all that wait have it, so it is the mapping's trouble, and nothing fails",
    ).toEqual({
      FAILED: 1,
      SUCCESS: 39,
      NEW: 20 - count,
    });
    expect(lastFailure()).toBe("salesforce_schema");
  },
);
