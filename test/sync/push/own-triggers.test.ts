import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  world = made.world;
  await world.createRecords("Contact", [{ LastName: "Noether", Title: "by Salesforce" }]);
  contact = await mapped(world, { object: "Contact", fields: ["LastName", "Phone", "Title"] });
});

const trigger = (when: string, body: string) =>
  world.sql(`CREATE FUNCTION public.follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$;
    CREATE TRIGGER follow ${when} ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.follow()`);
const cycles = async () => {
  for (let cycle = 0; cycle < 3; cycle += 1) {
    await world.cycle(contact);
    await world.pass(120);
  }
};
const rows = () => world.sql("SELECT lastname, phone, title FROM salesforce.contact ORDER BY lastname");
const records = () => world.soql("SELECT LastName, Phone, Title FROM Contact ORDER BY LastName");
const conflicts = () => world.sql("SELECT FROM salesforce._bridge_conflicts");

test("what a trigger writes to the row of its own statement stays, and Salesforce gets it", async () => {
  await trigger(
    "AFTER INSERT OR UPDATE",
    "UPDATE salesforce.contact SET title = 'Number ' || NEW.lastname, phone = '111' WHERE id = NEW.id AND title = 'by app'",
  );

  await world.sql("INSERT INTO salesforce.contact (lastname, title) VALUES ('Curie', 'by app')");
  await world.sql("UPDATE salesforce.contact SET title = 'by app' WHERE lastname = 'Noether'");
  await cycles();

  expect(await rows()).toEqual([
    { lastname: "Curie", phone: "111", title: "Number Curie" },
    { lastname: "Noether", phone: "111", title: "Number Noether" },
  ]);
  expect(await records()).toEqual([
    { LastName: "Curie", Phone: "111", Title: "Number Curie" },
    { LastName: "Noether", Phone: "111", Title: "Number Noether" },
  ]);
  expect(await conflicts()).toEqual([]);
});

test("a row that its own trigger deletes makes no record, and one that it inserts again is created again", async () => {
  const [before] = await world.soql("SELECT Id FROM Contact");
  await trigger(
    "AFTER INSERT OR DELETE",
    `IF TG_OP = 'INSERT' THEN DELETE FROM salesforce.contact WHERE id = NEW.id AND title = 'away';
     ELSIF OLD.title = 'by Salesforce' THEN INSERT INTO salesforce.contact (id, lastname, title) VALUES (OLD.id, OLD.lastname, 'again'); END IF`,
  );

  await world.sql("INSERT INTO salesforce.contact (lastname, title) VALUES ('Curie', 'away')");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Noether'");
  await cycles();

  expect(await rows()).toEqual([{ lastname: "Noether", phone: null, title: "again" }]);
  expect(await records()).toEqual([{ LastName: "Noether", Phone: null, Title: "again" }]);
  const [after] = await world.soql("SELECT Id FROM Contact");
  expect(after?.["Id"]).not.toBe(before?.["Id"]);
});
