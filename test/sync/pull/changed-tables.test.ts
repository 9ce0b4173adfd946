import { expect, test } from "vitest";
import { handler as activateMapping } from "../../../functions/api/activate-mapping.ts";
import { handler as deactivateMapping } from "../../../functions/api/deactivate-mapping.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as readMapping } from "../../../functions/api/read-mapping.ts";
import { handler as testPostgres } from "../../../functions/api/test-postgres.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type ApiClient, apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
let api: ApiClient;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  await world.createRecords("Contact", [
    { LastName: "Curie", Email: "marie@example.com" },
    { LastName: "Hopper", Email: "grace@example.com" },
  ]);
  contact = await mapped(world, { object: "Contact", fields: ["Email", "LastName"] });
  api = await apiClient(world.workspaceId);
  await newEvents();
});

const newEvents = async () => {
  const events = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = events.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return world.events(mine.map(({ event_id }) => event_id));
};
const shown = async () =>
  dataOf<object>(await api.ask(readMapping, "read-mapping", { path: { mapping_id: contact.id } }));
const health = async () => dataOf<{ sync: { status: string } }>(await api.ask(readHealth, "read-health")).sync.status;
/** What `bridge doctor` finds in the database. */
const doctor = async () =>
  dataOf<{ findings: readonly { ok: boolean; message: string; remedy: string | null }[] }>(
    await api.ask(testPostgres, "test-postgres"),
  ).findings.filter(({ ok }) => !ok);
const bothSides = async () => ({
  rows: await world.sql("SELECT lastname, email FROM salesforce.contact ORDER BY lastname"),
  records: (await world.soql("SELECT LastName, Email FROM Contact ORDER BY LastName")).map(({ LastName, Email }) => ({
    lastname: LastName,
    email: Email,
  })),
});

test.each([
  {
    what: "a mapped column is renamed",
    away: "ALTER TABLE salesforce.contact RENAME COLUMN lastname TO surname",
    back: "ALTER TABLE salesforce.contact RENAME COLUMN surname TO lastname",
    reason: "column_gone",
    says: "column lastname of table salesforce.contact is gone",
  },
  {
    what: "the table is renamed",
    away: "ALTER TABLE salesforce.contact RENAME TO person",
    back: "ALTER TABLE salesforce.person RENAME TO contact",
    reason: "table_gone",
    says: "table salesforce.contact is gone: it is salesforce.person now",
  },
])(
  "while $what the application writes on, the mapping is broken and says why, and nothing is lost once it is back",
  async ({ away, back, reason, says }) => {
    const write = (email: string) =>
      world.sql(
        `UPDATE salesforce.${reason === "table_gone" ? "person" : "contact"} SET email = '${email}' WHERE email LIKE 'grace%'`,
      );
    await world.sql(away);

    await write("grace@navy.example");
    await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace", Email: "ada@example.com" });
    for (let i = 0; i < 4; i++) await world.cycle(contact);
    for (const kind of ["sweep", "load", "backfill"] as const) await world.work(contact, kind);
    await write("grace@yale.example");

    const message = expect.stringContaining(says);
    expect(await newEvents()).toMatchObject([
      { event: "sync.broken", detail: { mapping_id: contact.id, reason, message, failed_cycles: 1 } },
    ]);
    expect(await shown()).toMatchObject({ state: "broken", failure: reason, reason: message });
    expect(await health()).toBe("broken");
    const found = says.replace("salesforce.contact", "contact");
    expect(await doctor()).toMatchObject([
      {
        message: found,
        remedy: expect.stringMatching(/deactivate \S+ mapping and activate it|deactivate and activate the mapping/),
      },
    ]);

    await world.sql(back);
    for (let i = 0; i < 2; i++) await world.cycle(contact);
    const { rows, records } = await bothSides();
    expect(rows).toEqual(records);
    expect(rows).toEqual([
      { lastname: "Curie", email: "marie@example.com" },
      { lastname: "Hopper", email: "grace@yale.example" },
      { lastname: "Lovelace", email: "ada@example.com" },
    ]);
    expect((await newEvents()).map(({ event }) => event)).toEqual(["sync.recovered"]);
    expect(await health()).toBe("running");
  },
);

longTest(
  "a column that was dropped is added and filled from Salesforce when its mapping is activated again",
  async () => {
    await world.sql("ALTER TABLE salesforce.contact DROP COLUMN email");
    await world.cycle(contact);
    expect(await shown()).toMatchObject({ state: "broken", failure: "column_gone" });

    await api.ask(deactivateMapping, "deactivate-mapping", { path: { mapping_id: contact.id } });
    await api.ask(activateMapping, "activate-mapping", { path: { mapping_id: contact.id } });
    await carryOut(cloud, world.services);
    contact = (await world.mappings()).find(({ id }) => id === contact.id) ?? contact;
    await world.work(contact, "load");
    await world.cycle(contact);

    const { rows, records } = await bothSides();
    expect(rows).toEqual(records);
    expect(rows).toMatchObject([{ email: "marie@example.com" }, { email: "grace@example.com" }]);
  },
);
