import { expect, test } from "vitest";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  world = made.world;
});

const CONTACT = { object: "Contact", fields: ["LastName", "Phone"] };
const rows = () => world.sql("SELECT sfid, lastname, phone FROM salesforce.contact ORDER BY lastname");
const aRecord = async (LastName: string) =>
  ((await world.rest("POST", "/sobjects/Contact", { LastName })) as { id: string }).id;

test.each(["varchar(18)", "text", "char(18)"])(
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

    const contact = await mapped(world, CONTACT);
    await world.cycle(contact);

    expect((await rows()).map(({ sfid, lastname }) => [sfid, lastname])).toEqual([
      [ids[0], "Curie"],
      [ids[1], "Meitner"],
      [ids[2], "Noether"],
    ]);
  },
);

test.each([
  ["an INSERT", (id: string) => `INSERT INTO salesforce.contact (sfid, lastname) VALUES ('${id}', 'Curie')`],
  [
    "an INSERT that names the marks",
    (id: string) => `INSERT INTO salesforce.contact (sfid, lastname, _ab_lastop) VALUES ('${id}', 'Curie', 'PENDING')`,
  ],
  [
    "an UPDATE",
    (id: string) =>
      `INSERT INTO salesforce.contact (lastname) VALUES ('Curie'); UPDATE salesforce.contact SET sfid = '${id}'`,
  ],
  [
    "COPY's statement for many",
    (id: string) =>
      `INSERT INTO salesforce.contact (sfid, lastname) SELECT '${id}', 'Curie' UNION ALL SELECT NULL, 'Other'`,
  ],
])("%s with 15 characters gives the row the id of 18, which is unique", async (_, statement) => {
  const contact = await mapped(world, CONTACT);
  const id = await aRecord("Curie");

  await world.sql(statement(id.slice(0, 15)));

  expect((await rows())[0]).toMatchObject({ sfid: id });
  for (const same of [id, id.slice(0, 15)])
    await expect(
      world.sql("INSERT INTO salesforce.contact (sfid, lastname) VALUES ($1, 'again')", [same]),
    ).rejects.toThrow(/unique/);
  await world.cycle(contact);
  await world.sql("UPDATE salesforce.contact SET phone = '1' WHERE lastname = 'Curie'");
  await world.cycle(contact);
  await world.cycle(contact);
  expect((await rows()).filter(({ lastname }) => lastname === "Curie")).toEqual([
    { sfid: id, lastname: "Curie", phone: "1" },
  ]);
  expect(await world.soql("SELECT Id, Phone FROM Contact WHERE LastName = 'Curie'")).toEqual([{ Id: id, Phone: "1" }]);
});

test("a column that holds 15 characters alone refuses no write", async () => {
  await mapped(world, CONTACT);
  await world.sql("ALTER TABLE salesforce.contact ALTER COLUMN sfid TYPE varchar(15)");
  const id = await aRecord("Curie");

  await world.sql("INSERT INTO salesforce.contact (sfid, lastname) VALUES ($1, 'Curie')", [id.slice(0, 15)]);

  expect((await rows())[0]).toMatchObject({ sfid: id.slice(0, 15) });
});
