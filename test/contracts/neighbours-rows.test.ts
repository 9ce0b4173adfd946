import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { becomeUpgraded } from "../support/worlds/released-schema.ts";
import type { Row, SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

/**
 * What a released version left in a customer's schema, frozen like its messages and items (neighbours.test.ts). It lies
 * in that version's own tables, which were upgraded.
 */
const FILE = join(import.meta.dirname, "released-1-rows.json");

interface Released {
  /** Of the mapping's state: `$MAPPING` means its id. */
  readonly shape: Row;
  readonly layout: Row;
  /** Captured changes of rows 1 and 2, as the triggers wrote them. */
  readonly changes: readonly Row[];
}

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["LastName", "Email", "Birthdate", "AccountId"] });
});

test("a cycle works with the state that the released version has kept of a mapping, both ways", async () => {
  await becomeUpgraded(world);
  const { shape, layout } = released();
  await world.sql("UPDATE salesforce._bridge_state SET shape = $1, layout = $2", [
    JSON.stringify({ ...shape, mappingId: contact.id }),
    JSON.stringify(layout),
  ]);
  await world.sql("INSERT INTO salesforce.contact (lastname, birthdate) VALUES ('Out', '1815-12-10')");
  await world.rest("POST", "/sobjects/Contact", { LastName: "In", Birthdate: "1906-12-09" });

  await world.cycle(contact);

  expect(await world.soql("SELECT LastName, Birthdate FROM Contact ORDER BY LastName")).toEqual([
    { LastName: "In", Birthdate: "1906-12-09" },
    { LastName: "Out", Birthdate: "1815-12-10" },
  ]);
  expect(await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).toHaveLength(2);
});

test("changes that the released version's triggers captured are sent", async () => {
  await becomeUpgraded(world);
  await world.sql("SET bridge.in_sync = 'contact'");
  await world.sql("INSERT INTO salesforce.contact (id, lastname, email) VALUES (1, 'Second', 'one@example.com')");
  await world.sql("RESET bridge.in_sync");
  for (const { action, table_name, record_id, old, values } of released().changes) {
    await world.sql(
      'INSERT INTO salesforce._trigger_log (action, table_name, record_id, old, "values") VALUES ($1, $2, $3, $4, $5)',
      [action, table_name, record_id, JSON.stringify(old), JSON.stringify(values)],
    );
  }

  await world.cycle(contact);

  expect(await world.soql("SELECT LastName, Email FROM Contact")).toEqual([
    { LastName: "Second", Email: "one@example.com" },
  ]);
  expect(await world.sql("SELECT DISTINCT state FROM salesforce._trigger_log")).toEqual([{ state: "SUCCESS" }]);
});

test("what this version keeps of a mapping and captures has everything that the released one reads", async () => {
  const before = released();
  const now = await seen();

  expect(now.shape).toMatchObject({ ...before.shape, configVersion: now.shape["configVersion"] });
  expect(now.layout).toMatchObject(before.layout);
  expect(now.changes).toEqual(before.changes);
});

const released = (): Released => JSON.parse(readFileSync(FILE, "utf8")) as Released;

/** What this version leaves. */
async function seen(): Promise<Released> {
  await world.sql("INSERT INTO salesforce.contact (id, lastname, email) VALUES (1, 'First', 'one@example.com')");
  await world.sql("UPDATE salesforce.contact SET lastname = 'Second' WHERE id = 1");
  await world.sql("INSERT INTO salesforce.contact (id, lastname) VALUES (2, 'Gone')");
  await world.sql("DELETE FROM salesforce.contact WHERE id = 2");
  const [state] = await world.sql("SELECT shape, layout FROM salesforce._bridge_state");
  const changes = await world.sql(
    'SELECT action, table_name, record_id::int, old, "values" FROM salesforce._trigger_log ORDER BY id',
  );
  await world.sql("DELETE FROM salesforce._trigger_log");
  await world.sql("DELETE FROM salesforce.contact");
  await world.sql("DELETE FROM salesforce._trigger_log");
  const shape = { ...(state?.["shape"] as Row), mappingId: "$MAPPING" };
  return { shape, layout: state?.["layout"] as Row, changes };
}
