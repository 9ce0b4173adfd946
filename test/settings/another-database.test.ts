import { expect, test } from "vitest";
import { counters } from "../../functions/services/composition.ts";
import { openSession } from "../../lib/adapters/postgres/session/session.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { ask } from "../support/clients/ask.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { carryOut } from "../support/worlds/carry-out.ts";
import { createTestDatabase } from "../support/worlds/postgres.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  await world.rest("POST", "/sobjects/Contact", { LastName: "Curie" });
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
});

const rowsShown = async () =>
  (await counters().readAll()).totals.find(({ mappingId }) => mappingId === contact.id)?.rowsSynced;

test("a workspace that moves to an empty database has its tables and its records there, and its metrics begin again and keep moving", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, 3) i");
  await world.cycle(contact);
  const before = await rowsShown();
  const other = await createTestDatabase();

  const [token, path] = [await tokenFor(world.workspaceId), { workspace_id: world.workspaceId }];
  expect((await ask("set-postgres", { token, path, body: { url: other.url } })).status).toBe(200);
  await carryOut(cloud, world.services);
  await world.pass(60);
  await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace" });
  const session = await openSession({ url: other.url, schema: "salesforce" });
  await session.query("INSERT INTO salesforce.contact (lastname) VALUES ('Noether')");
  await world.cycle(contact);

  const rows = await session.query<{ lastname: string }>("SELECT lastname FROM salesforce.contact ORDER BY lastname");
  await session.close();
  await other.close();
  expect(rows.map(({ lastname }) => lastname)).toEqual(["Curie", "L1", "L2", "L3", "Lovelace", "Noether"]);
  expect([before, await rowsShown()]).toEqual([3, 1]);
});

test("a mapping whose tables are not in the database is reported as broken, with the remedy", async () => {
  await world.sql("DROP SCHEMA salesforce CASCADE");

  for (const _ of [1, 2, 3]) await world.cycle(contact);

  expect(world.log).toContainEqual(
    expect.objectContaining({ reason: "postgres_unavailable", message: expect.stringContaining("connect") }),
  );
  const { engine } = await world.services.engine.read(world.workspaceId, contact.id);
  expect(engine.state.brokenSince).not.toBeNull();
  await world.databaseGoesAway();
  const path = { workspace_id: world.workspaceId, mapping_id: contact.id };
  const shown = await ask("read-mapping", { token: await tokenFor(world.workspaceId), path });
  expect(shown.json?.data).toMatchObject({ state: "broken", rows_synced: null, failure: "postgres_unavailable" });
});
