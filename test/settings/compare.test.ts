import { beforeEach, expect, test } from "vitest";
import { now } from "../../functions/services/composition.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { askingIn } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
let token: string;
aWorldForEachTest((made) => {
  ({ cloud, world } = made);
});
beforeEach(async () => {
  token = await tokenFor(world.workspaceId, "operate");
  await world.createRecords("Contact", [{ LastName: "Lovelace" }, { LastName: "Byron" }, { LastName: "Babbage" }]);
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.pass(3600);
  await cloud.take("loads");
});

const asking = askingIn(() => ({ id: world.workspaceId, token }));
const ask = (route: RouteName) => asking(route, { path: { mapping_id: contact.id } });
const compared = async () => dataOf<{ compared: unknown }>(await ask("read-mapping"));

test("both sides are compared when a user asks, and the mapping says what was found", async () => {
  const before = await compared();
  const asked = await ask("compare-mapping");
  const messages = await cloud.take("loads");
  await world.work(contact, "sweep");
  const equal = await compared();
  await world.asSuperuser(`BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM salesforce.contact WHERE lastname = 'Byron';
    INSERT INTO salesforce.contact (lastname, sfid) VALUES ('Nemo', '003000000000000AAA'); COMMIT`);
  await world.work(contact, "sweep");
  const apart = await compared();
  await world.work(contact, "sweep");
  const mended = await compared();

  expect(before.compared).toBeNull();
  expect(asked.status).toBe(200);
  expect(messages).toMatchObject([{ mapping_id: contact.id, kind: "sweep" }]);
  expect(equal.compared).toEqual({
    ...{ at: now().toISOString(), rows: 3, records: 3, differing: 0, vanished: 0, missing: 0, unsent: 0, refused: 0 },
    ...{ calls: 2, equal: true, says: "3 rows: 3 equal, 0 differ. 3 records: each has a row. 2 API calls." },
  });
  expect(apart.compared).toMatchObject({ rows: 3, records: 3, differing: 1, vanished: 1 });
  expect(apart.compared).toMatchObject({
    says: expect.stringMatching(/^3 rows: 2 equal, 0 differ, 1 .* 1 had no row/),
  });
  expect(mended.compared).toMatchObject({ records: 3, differing: 0 });
});

test("a row that Salesforce refused is no equal one, and the ids of what differs can be read; a paused mapping is neither compared nor reloaded", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES (NULL), (NULL)");
  await world.cycle(contact);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Waits')");
  await world.asSuperuser(
    "BEGIN; SET LOCAL session_replication_role = replica; UPDATE salesforce.contact SET lastname = 'Other' WHERE lastname = 'Byron'; COMMIT",
  );
  const [{ sfid } = { sfid: "" }] = await world.sql("SELECT sfid FROM salesforce.contact WHERE lastname = 'Other'");

  await world.work(contact, "sweep");

  expect(await compared()).toMatchObject({
    compared: {
      ...{ rows: 3, records: 3, differing: 1, missing: 0, unsent: 3, refused: 2, equal: false },
      says: "6 rows: 2 equal, 1 differed, 3 have no record (2 refused). 3 records: each has a row. 2 API calls.",
    },
    compared_ids: [sfid],
  });
  token = await tokenFor(world.workspaceId, "admin");
  await world.sql("INSERT INTO salesforce._bridge_outbox (event, detail) VALUES ('record.failed', '{}')");
  await ask("deactivate-mapping");
  await world.map();
  expect(await world.sql("SELECT FROM salesforce._bridge_outbox"), "its last events have left").toEqual([]);
  for (const { json } of [await ask("compare-mapping"), await ask("reload-mapping")])
    expect(json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("is paused") });
});
