import { expect, test } from "vitest";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld();

const map = () => world.mapContact(["LastName", "Phone"]);
const rows = () => world.sql("SELECT sfid, lastname, phone FROM salesforce.contact ORDER BY lastname");
const aRecord = async (LastName: string) => ((await world.create(LastName)) as { id: string }).id;

test.each(firstInGate(1, ["char(18)", "text"]))(
  "rows that name their records by 15 characters meet them, where the column was there as %s",
  async (type) => {
    const ids = [await aRecord("Curie"), await aRecord("Meitner"), await aRecord("Noether")];
    await world.sql(
      `CREATE SCHEMA IF NOT EXISTS salesforce; CREATE TABLE salesforce.contact (id serial PRIMARY KEY, sfid ${type}, lastname text)`,
    );
    for (const [place, id] of ids.entries())
      await world.sql("INSERT INTO salesforce.contact (sfid, lastname) VALUES ($1, 'by app')", [
        place < 2 ? id.slice(0, 15) : id,
      ]);

    await map();
    await world.cycles();

    expect((await rows()).map(({ sfid, lastname }) => [sfid, lastname])).toEqual([
      [ids[0], "Curie"],
      [ids[1], "Meitner"],
      [ids[2], "Noether"],
    ]);
  },
);

/** Statements that name a record by 15 characters, for a row of this name. */
const WRITES: Readonly<Record<string, (id: string, name: string) => string>> = {
  "an INSERT": (id, name) => `INSERT INTO salesforce.contact (sfid, lastname) VALUES ('${id}', '${name}')`,
  "an INSERT that names the marks": (id, name) =>
    `INSERT INTO salesforce.contact (sfid, lastname, _ab_lastop) VALUES ('${id}', '${name}', 'PENDING')`,
  "an UPDATE": (id, name) =>
    `INSERT INTO salesforce.contact (lastname) VALUES ('${name}'); UPDATE salesforce.contact SET sfid = '${id}' WHERE lastname = '${name}'`,
  "many of one statement": (id, name) =>
    `INSERT INTO salesforce.contact (sfid, lastname) SELECT '${id}', '${name}' UNION ALL SELECT NULL, 'Other'`,
};

test("whatever writes 15 characters gives the row the id of 18, which is unique", async () => {
  await map();
  const expected: { sfid: string; lastname: string; phone: string }[] = [];
  for (const [name, statement] of Object.entries(WRITES)) {
    const id = await aRecord(name);
    expected.push({ sfid: id, lastname: name, phone: "1" });

    await world.sql(statement(id.slice(0, 15), name));

    for (const same of [id, id.slice(0, 15)])
      await expect(
        world.sql("INSERT INTO salesforce.contact (sfid, lastname) VALUES ($1, 'again')", [same]),
        name,
      ).rejects.toThrow(/unique/);
  }
  await world.cycles();
  await world.sql("UPDATE salesforce.contact SET phone = '1' WHERE lastname <> 'Other'");
  await world.cycles(2);

  expect((await rows()).filter(({ lastname }) => lastname !== "Other").toSorted(byName)).toEqual(
    expected.toSorted(byName),
  );
  expect(await world.soql("SELECT Id FROM Contact WHERE Phone = '1'")).toHaveLength(expected.length);
  expect(await world.soql("SELECT Id FROM Contact")).toHaveLength(expected.length + 1);
});

const byName = (one: { lastname?: unknown }, other: { lastname?: unknown }) =>
  String(one.lastname) < String(other.lastname) ? -1 : 1;

test("a column that holds 15 characters alone refuses no write", async () => {
  await map();
  await world.sql("ALTER TABLE salesforce.contact ALTER COLUMN sfid TYPE varchar(15)");
  const id = await aRecord("Curie");

  await world.sql("INSERT INTO salesforce.contact (sfid, lastname) VALUES ($1, 'Curie')", [id.slice(0, 15)]);

  expect((await rows())[0]).toMatchObject({ sfid: id.slice(0, 15) });
});
