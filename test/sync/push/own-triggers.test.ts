import { expect, test } from "vitest";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(async () => {
  await world.create("Noether", { Title: "by Salesforce" });
  await world.mapContact(["LastName", "Phone", "Title"]);
});

const trigger = (when: string, body: string) =>
  world.sql(`CREATE FUNCTION public.follow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$;
    CREATE TRIGGER follow ${when} ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION public.follow()`);
const cycles = async () => {
  for (let cycle = 0; cycle < 3; cycle += 1) {
    await world.cycles();
    await world.pass(120);
  }
};
/** Both sides are equal and have these people. */
async function expectBoth(...people: readonly (readonly [string, string | null, string])[]): Promise<void> {
  const { rows, records } = await world.bothSides(["LastName", "Phone", "Title"]);
  expect(rows.map(({ LastName, Phone, Title }) => [LastName, Phone, Title])).toEqual(people);
  expect(records).toEqual(rows);
}

test("what a trigger writes to the row of its own statement stays, and Salesforce gets it", async () => {
  await trigger(
    "AFTER INSERT OR UPDATE",
    "UPDATE salesforce.contact SET title = 'Number ' || NEW.lastname, phone = '111' WHERE id = NEW.id AND title = 'by app'",
  );

  await world.sql("INSERT INTO salesforce.contact (lastname, title) VALUES ('Curie', 'by app')");
  await world.sql("UPDATE salesforce.contact SET title = 'by app' WHERE lastname = 'Noether'");
  await cycles();

  await expectBoth(["Curie", "111", "Number Curie"], ["Noether", "111", "Number Noether"]);
  expect(await world.conflicts()).toEqual([]);
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

  await expectBoth(["Noether", null, "again"]);
  const [after] = await world.soql("SELECT Id FROM Contact");
  expect(after?.["Id"]).not.toBe(before?.["Id"]);
});
