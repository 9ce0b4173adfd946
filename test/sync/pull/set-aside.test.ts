import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { schedules } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["Description", "LastName"] });
});

const rows = () => world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname");
const setAside = () => world.sql("SELECT sqlstate, attempts FROM salesforce._bridge_inbound_errors");
const create = (LastName: string, more = {}) => world.rest("POST", "/sobjects/Contact", { LastName, ...more });

test("a record whose parent row of the application's own comes later is a row with the beat that follows", async () => {
  await world.sql("CREATE TABLE family (name text PRIMARY KEY)");
  await world.sql("ALTER TABLE salesforce.contact ADD FOREIGN KEY (lastname) REFERENCES family");
  await create("Curie");
  await world.cycle(contact);
  expect(await setAside()).toEqual([{ sqlstate: "23503", attempts: 1 }]);

  await world.sql("INSERT INTO family VALUES ('Curie')");
  await world.pass(10);
  await world.cycle(contact, "beat");

  expect(await rows()).toEqual([{ lastname: "Curie" }]);
  expect(await setAside()).toEqual([]);
});

test("a record whose value another row has is read again less and less often, and in the end only by the sweep", async () => {
  await world.sql("ALTER TABLE salesforce.contact ADD UNIQUE (lastname)");
  for (let made = 0; made < 2; made++) {
    await create("Curie");
    await world.cycle(contact);
  }

  for await (const { mappingId } of schedules().list()) await schedules().remove(mappingId); // a day passes, of which no minute counts
  const readAgainAt: number[] = [];
  let passed = 0;
  for (const age of [10, 1_200, 5_000, 20_000, 80_000]) {
    await world.sql("UPDATE salesforce._bridge_inbound_errors SET attempts = 0");
    await world.pass(age - passed);
    await world.cycle(contact, "beat");
    if ((await setAside())[0]?.["attempts"] !== 0) readAgainAt.push(age);
    passed = age;
  }
  const [first] = await world.sql("SELECT sfid FROM salesforce.contact");
  await world.rest("DELETE", `/sobjects/Contact/${first?.["sfid"]}`);
  await world.cycle(contact);
  await world.work(contact, "sweep");

  expect(readAgainAt).toEqual([10, 1_200, 5_000]);
  expect(await rows()).toEqual([{ lastname: "Curie" }]);
  expect(await setAside()).toEqual([]);
});

test("a text that an index of the application cannot hold keeps back its own record and no other", async () => {
  await world.sql("CREATE INDEX ON salesforce.contact (description)");
  await create("Curie", { Description: randomBytes(9_000).toString("base64") });
  await create("Meitner");

  await world.cycle(contact);

  expect(await rows()).toEqual([{ lastname: "Meitner" }]);
  expect(await setAside()).toMatchObject([{ sqlstate: "54000" }]);
});
