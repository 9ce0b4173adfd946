import { expect, test } from "vitest";
import { databases } from "../../../../lib/adapters/postgres/operations/inspect-database.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { mappingOf } from "../../../support/worlds/shapes.ts";
import { type Customer, image, orgTime, page, sfidOf } from "../customer.ts";
import { END } from "../cycles.ts";
import { aCustomerForEachTest, connection, customer, sql } from "../world.ts";

aCustomerForEachTest();

/** Another workspace takes the schema over, and its mapping of the table is provisioned. */
async function takeOver(more: Partial<Customer["shape"]> = {}) {
  await databases.takeOver(connection(), "w_2");
  const shape = { ...customer.shape, mappingId: "map_new", configVersion: 3, ...more };
  return createProvisioner(connection(), () => customer.now).provision(mappingOf(shape, "w_2"), shape);
}

const states = () =>
  sql("SELECT mapping_id, config_version, shape ->> 'mappingId' AS named, position FROM salesforce._bridge_state");

test("a mapping of the same table and object continues where that of the former workspace ended", async () => {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 1, { lastname: "Lovelace" })]));
  await store.finish(lease, { ...END, marks: { position: orgTime(5) } });
  await sql("UPDATE salesforce.contact SET email = 'ada@example.com'");
  await sql("INSERT INTO salesforce._bridge_held_deletes VALUES ('map_contact', $1, now(), now(), now())", [sfidOf(2)]);
  await sql(`INSERT INTO salesforce._bridge_history (mapping_id, record_id, at, fields) VALUES ('map_contact', 1, now(), '{}');
    INSERT INTO salesforce._bridge_pushed VALUES ('map_contact', now(), '{}')`);

  await takeOver();
  await sql("UPDATE salesforce.contact SET email = 'ada@example.org'");

  expect(await states()).toEqual([
    { mapping_id: "map_new", config_version: "3", named: "map_new", position: orgTime(5) },
  ]);
  expect(await sql("SELECT mapping_id, load FROM salesforce._bridge_loads")).toEqual([
    { mapping_id: "map_new", load: null },
  ]);
  for (const table of ["held_deletes", "history", "pushed"])
    expect(await sql(`SELECT mapping_id FROM salesforce._bridge_${table}`)).toEqual([{ mapping_id: "map_new" }]);
  expect(await sql("SELECT state, \"values\" ->> 'email' AS email FROM salesforce._trigger_log ORDER BY id")).toEqual([
    { state: "NEW", email: "ada@example.com" },
    { state: "NEW", email: "ada@example.org" },
  ]);
});

test("a cycle or a load of the former workspace that still runs loses its lease with the take-over", async () => {
  const running = [await customer.cycle(), await customer.cycle({ work: "load" })];

  await databases.takeOver(connection(), "w_2");

  for (const { store, lease } of running)
    await expect(store.apply(lease, page([image(1, 1, { lastname: "Lovelace" })]))).rejects.toThrow("lease");
});

test("a mapping of another object starts afresh on the table", async () => {
  const { store, lease } = await customer.cycle();
  await store.finish(lease, { ...END, marks: { position: orgTime(5) } });

  await takeOver({ sfObject: "Lead" });

  expect(await states()).toEqual([{ mapping_id: "map_new", config_version: "3", named: "map_new", position: null }]);
});

test("a mapping of the same workspace still keeps its table to itself", async () => {
  await databases.takeOver(connection(), "w_1");

  await expect(customer.provision({ mappingId: "map_second" })).rejects.toThrow("belongs to another mapping");
});
