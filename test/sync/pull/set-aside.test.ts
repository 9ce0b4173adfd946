import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(() => world.mapContact(["Description", "LastName"]));

test("a record whose parent row of the application's own comes later is a row with the beat that follows", async () => {
  await world.sql("CREATE TABLE family (name text PRIMARY KEY)");
  await world.sql("ALTER TABLE salesforce.contact ADD FOREIGN KEY (lastname) REFERENCES family");
  await world.create("Curie");
  await world.create("Gone");
  await world.cycles();
  expect(await world.setAside()).toMatchObject(Array(2).fill({ sqlstate: "23503", attempts: 1 }));

  await world.removeForGood("Gone");
  await world.sql("INSERT INTO family VALUES ('Curie')");
  await world.pass(10);
  await world.cycle(world.contact, "beat");

  expect(await world.names()).toEqual(["Curie"]);
  expect(await world.setAside()).toEqual([]);
});

test("a record whose value another row has is read again less and less often, and in the end only by the sweep", async () => {
  await world.sql("ALTER TABLE salesforce.contact ADD UNIQUE (lastname)");
  for (let made = 0; made < 2; made++) {
    await world.create("Curie");
    await world.cycles();
  }

  await world.stopMinutes();
  const readAgainAt: number[] = [];
  let passed = 0;
  for (const age of [10, 1_200, 5_000, 20_000, 80_000]) {
    await world.sql("UPDATE salesforce._bridge_inbound_errors SET attempts = 0");
    await world.pass(age - passed);
    await world.cycle(world.contact, "beat");
    if ((await world.setAside())[0]?.["attempts"] !== 0) readAgainAt.push(age);
    passed = age;
  }
  const [first] = await world.sql("SELECT sfid FROM salesforce.contact");
  await world.rest("DELETE", `/sobjects/Contact/${first?.["sfid"]}`);
  await world.cycles();
  await world.sweep();

  expect(readAgainAt).toEqual([10, 1_200, 5_000]);
  expect(await world.names()).toEqual(["Curie"]);
  expect(await world.setAside()).toEqual([]);
});

test("a text that an index of the application cannot hold keeps back its own record and no other", async () => {
  await world.sql("CREATE INDEX ON salesforce.contact (description)");
  await world.create("Curie", { Description: randomBytes(9_000).toString("base64") });
  await world.create("Meitner");

  await world.cycles();

  expect(await world.names()).toEqual(["Meitner"]);
  expect(await world.setAside()).toMatchObject([{ sqlstate: "54000" }]);
});
