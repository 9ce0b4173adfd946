import { expect, test } from "vitest";
import { handler as captureMapping } from "../../../functions/api/capture-mapping.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest((made) => {
  ({ cloud, world } = made);
});

async function twoPeople(more: object = {}): Promise<void> {
  await world.createRecords("Contact", [
    { LastName: "Curie", Title: "Dr", Phone: "1" },
    { LastName: "Meitner", Title: "Ms", Phone: "2" },
  ]);
  contact = await mapped(world, { object: "Contact", fields: ["LastName", "Title", "Phone"], ...more });
  await world.pass(1_200);
  await world.cycle(contact);
}

/** As long as it takes until nothing is read any more. */
async function settle(): Promise<void> {
  for (let cycle = 0; cycle < 3; cycle += 1) {
    await world.pass(10);
    await world.cycle(contact).catch(() => undefined);
    await world.work(contact, "load");
  }
}

const again = (type: string) =>
  world.sql(
    `ALTER TABLE salesforce.contact DROP COLUMN title; ALTER TABLE salesforce.contact ADD COLUMN title ${type}`,
  );
const rows = () => world.sql("SELECT lastname, title, phone FROM salesforce.contact ORDER BY lastname");
const records = () => world.soql("SELECT LastName, Title, Phone FROM Contact ORDER BY LastName");
const state = async () => (await world.sql("SELECT last_error AS error FROM salesforce._bridge_state"))[0];
const THEIRS = [
  { lastname: "Curie", title: "Dr", phone: "1" },
  { lastname: "Meitner", title: "Ms", phone: "2" },
];

const KINDS = [
  ["where PostgreSQL wins", { bridge: { conflict_policy: "postgres_wins" } }],
  ["both ways", {}],
  ["from Salesforce", { bridge: { sync_direction: "sf_to_pg" } }],
] as const;

test.each(firstInGate(1, KINDS))(
  "a column that is dropped and added again is filled from Salesforce, %s",
  async (_, more) => {
    await twoPeople(more);
    await again("varchar(128)");

    await settle();

    expect(await rows()).toEqual(THEIRS);
    expect(await records()).toMatchObject([{ Title: "Dr" }, { Title: "Ms" }]);
    expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
  },
);

longTest("the same where the mapping is changed before any cycle has seen it", async () => {
  await twoPeople();
  await again("varchar(128)");
  contact = await mapped(world, { object: "Contact", fields: ["LastName", "Title", "Phone"], pollingSeconds: 20 });

  await settle();

  expect(await rows()).toEqual(THEIRS);
});

test("what the application writes into it at once is sent, and the other rows are filled", async () => {
  await twoPeople();
  await again("varchar(128)");
  await world.sql("UPDATE salesforce.contact SET title = 'Professor' WHERE lastname = 'Curie'");

  await settle();

  expect(await rows()).toMatchObject([{ title: "Professor" }, { title: "Ms" }]);
  expect(await records()).toMatchObject([{ Title: "Professor" }, { Title: "Ms" }]);
});

const CHOICES = [
  ["salesforce", [{ title: "Dr" }, { title: "Ms" }], [{ Title: "Dr" }, { Title: "Ms" }]],
  ["mine", [{ title: "new" }, { title: "new" }], [{ Title: "new" }, { Title: "new" }]],
] as const;

test.each(firstInGate(1, CHOICES))(
  "where it holds values that nothing captured a person decides: --%s",
  async (choice, held, saved) => {
    await twoPeople({ bridge: { conflict_policy: choice === "mine" ? "postgres_wins" : "salesforce_wins" } });
    await again("varchar(128) DEFAULT 'new'");

    await settle();

    expect(String((await state())?.["error"])).toMatch(/title of table salesforce.contact was dropped and added again/);
    expect(await rows()).toMatchObject([{ title: "new" }, { title: "new" }]);
    expect(await records()).toMatchObject([{ Title: "Dr" }, { Title: "Ms" }]);

    const api = await apiClient(world.workspaceId);
    dataOf(
      await api.ask(captureMapping, "capture-mapping", {
        path: { mapping_id: contact.id },
        body: { uncaptured: choice },
      }),
    );
    await carryOut(cloud, world.services);
    contact = (await world.mappings())[0] ?? contact;
    await settle();

    expect(await rows()).toMatchObject(held);
    expect(await records()).toMatchObject(saved);
  },
);
