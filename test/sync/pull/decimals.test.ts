import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { mapped } from "../../support/worlds/worlds.ts";
import { eachInAWorld, longTexts, MANY, orgWith, WIDE, world } from "../world.ts";

eachInAWorld(
  () => world.sql("CREATE SCHEMA IF NOT EXISTS salesforce"),
  orgWith(
    "Meter__c",
    { name: "Amount__c", type: "currency", precision: 18, scale: 2 },
    { name: "Count__c", type: "number", precision: 18, scale: 0 },
    { name: "Share__c", type: "percent", precision: 5, scale: 1 },
    { name: "Double__c", type: "formula", formula: "Amount__c * 2", returns: "double" },
    ...longTexts(),
  ),
);

const map = (...fields: string[]) => mapped(world, { object: "Meter__c", fields: [...fields, "Name"] });
const rows = (columns: string) => world.sql(`SELECT ${columns} FROM salesforce.meter__c ORDER BY name`);

/** Compares every record and row again, as each day; how many were written. */
async function compare(meter: Mapping): Promise<unknown> {
  await world.pass(3_600);
  await world.work(meter, "sweep");
  return world.lastLine("sweep")?.["updated"];
}

/** Records with more places than their fields have, and numbers that Java writes with an exponent. */
const RECORDS = [
  { Name: "a", Amount__c: 90.678, Count__c: 7.123456, Share__c: 12.345 },
  { Name: "b", Amount__c: 0.0004, Count__c: 99_213_206, Share__c: 0 },
  { Name: "c", Amount__c: -1.23456, Count__c: 16_147_805_824_397, Share__c: 100 },
];

test.each<[string, number, readonly string[]]>([
  ["by a page", 0, []],
  ["by a job", MANY, WIDE],
])("a column holds each number as the org gives it, read %s", async (_, count, wide) => {
  const more = Array.from({ length: count }, (_, n) => ({ Name: `d${n}`, Amount__c: n }));
  await world.createRecords("Meter__c", [...RECORDS, ...more]);

  const meter = await map("Amount__c", "Count__c", "Double__c", "Share__c", ...wide);

  expect((await rows("amount__c::text, count__c::text, share__c::text, double__c::text")).slice(0, 3)).toEqual([
    { amount__c: "90.678", count__c: "7.123456", share__c: "12.345", double__c: "181.356" },
    { amount__c: "0.0004", count__c: "99213206", share__c: "0", double__c: "0.0008" },
    { amount__c: "-1.23456", count__c: "16147805824397", share__c: "100", double__c: "-2.46912" },
  ]);
  expect(await compare(meter), "written by a comparison").toBe(0);
});

/** Types that an application chose for a number, and what they hold of 7, of 20,000,000 and of 90.678. */
const COLUMNS: readonly (readonly [type: string, held: readonly (string | null)[]])[] = [
  ["bigint", ["7", "20000000", null]],
  ["numeric(12,2)", ["7.00", "20000000.00", "90.68"]],
  ["smallint", ["7", null, null]],
  ["whole_number", ["7", "20000000", null]],
  ["varchar(40)", ["7", "20000000", "90.678"]],
  ["double precision", ["7", "20000000", "90.678"]],
  ["real", ["7", "2e+07", "90.678"]],
];

test.each(firstInGate(1, COLUMNS))(
  "an own column of %s gets what it can hold, and says of the rest so",
  async (type, held) => {
    await world.createRecords("Meter__c", [
      { Name: "a", Amount__c: 7 },
      { Name: "b", Amount__c: 20_000_000 },
      { Name: "c", Amount__c: 90.678 },
    ]);
    await world.sql(`CREATE DOMAIN public.whole_number AS bigint CHECK (VALUE > -1000);
     CREATE TABLE salesforce.meter__c (id serial PRIMARY KEY, name text, amount__c ${type})`);

    const meter = await map("Amount__c");
    await world.cycle(meter);

    const expected = ["a", "b", "c"].flatMap((name, place) => (held[place] === null ? [] : [[name, held[place]]]));
    expect((await rows("name, amount__c::text")).map(({ name, amount__c }) => [name, amount__c])).toEqual(expected);
    const refused = await world.setAside();
    expect(refused).toHaveLength(3 - expected.length);
    for (const { error } of refused) expect(error).toMatch(/invalid input syntax|out of range/);
    if (refused.length === 0) expect(await compare(meter), "written by a comparison").toBe(0);
  },
);

test("what an application writes into a whole-number column comes back as it was, and a later change leaves one line", async () => {
  await world.sql("CREATE TABLE salesforce.meter__c (id serial PRIMARY KEY, name text, count__c bigint)");
  const meter = await map("Amount__c", "Count__c");
  await world.sql(
    "INSERT INTO salesforce.meter__c (name, amount__c, count__c) VALUES ('mine', 100.00, 16147805824398)",
  );
  await world.cycle(meter);
  await world.pass(60);
  await world.cycle(meter, "pull");
  expect(await rows("amount__c::numeric(9,2)::text, count__c::text")).toEqual([
    { amount__c: "100.00", count__c: "16147805824398" },
  ]);

  const [record] = await world.soql("SELECT Id FROM Meter__c");
  await world.rest("PATCH", `/sobjects/Meter__c/${record?.["Id"]}`, { Name: "theirs", Count__c: 99_213_206 });
  await world.cycle(meter, "pull");

  expect(await rows("count__c::text")).toEqual([{ count__c: "99213206" }]);
  expect(await world.sql("SELECT fields FROM salesforce._bridge_history ORDER BY at")).toMatchObject([
    { fields: { name: ["mine", "theirs"], count__c: expect.any(Array) } },
  ]);
  expect(await world.sql("SELECT FROM salesforce._bridge_history WHERE fields ? 'amount__c'")).toEqual([]);
  expect(await world.setAside()).toEqual([]);
});
