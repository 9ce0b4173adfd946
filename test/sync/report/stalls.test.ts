import { beforeEach, expect, test } from "vitest";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as testSalesforce } from "../../../functions/api/test-salesforce.ts";
import { now } from "../../../functions/services/composition.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type ApiClient, apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
let api: ApiClient;
aWorldForEachTest((made) => {
  world = made.world;
});
beforeEach(async () => {
  api = await apiClient(world.workspaceId);
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.cycle(contact);
});

interface Health {
  readonly sync: { readonly status: string };
  readonly incidents?: readonly { readonly message: string; readonly commands: readonly string[] }[];
}

const sync = async () => {
  const { sync, incidents } = dataOf<Health>(
    await api.ask(readHealth, "read-health", { query: { incidents: "true" } }),
  );
  return { status: sync.status, ...(incidents?.length && { incidents }) };
};

test("health is running while all moves, and says of each standstill what it is and what helps", async () => {
  expect(await sync()).toMatchObject({ status: "running" });
  expect(await sync()).not.toHaveProperty("incidents");

  await world.pass(181);
  expect(await sync()).toMatchObject({
    status: "degraded",
    incidents: [{ message: expect.stringMatching(/^Contact: no cycle has begun for 12\d s$/) }],
  });

  await world.cycle(contact);
  expect(await sync()).toMatchObject({ status: "running" });
});

test("a table whose configuration is another one's", async () => {
  await world.pass(61);
  await world.cycle(contact);
  await world.sql("UPDATE salesforce._bridge_state SET config_version = config_version + 1");

  expect(await sync()).toMatchObject({
    status: "degraded",
    incidents: [
      {
        message: expect.stringContaining("of the configuration"),
        commands: ["bridge mapping deactivate Contact", "bridge mapping activate Contact"],
      },
    ],
  });
});

test("records that cannot become rows", async () => {
  await world.sql("ALTER TABLE salesforce.contact ADD CONSTRAINT short CHECK (length(lastname) < 4)");
  await world.createRecords(
    "Contact",
    Array.from({ length: 5 }, (_, index) => ({ LastName: `Long ${index}` })),
  );
  await world.pass(1);
  await world.cycle(contact);

  expect(await sync()).toMatchObject({
    status: "degraded",
    incidents: [{ message: "Contact: 5 records cannot become rows, beside 0 rows" }],
  });
});

test("changes that a lost cycle has claimed", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  const past = new Date(now().getTime() - 121_000).toISOString();
  await world.sql(`UPDATE salesforce._trigger_log SET state = 'PENDING', updated_at = '${past}'`);
  await world.sql(
    "INSERT INTO salesforce._bridge_in_hand (id, table_name, ids) SELECT 'lost', 'contact', array_agg(id) FROM salesforce._trigger_log",
  );

  expect(await sync()).toMatchObject({
    status: "degraded",
    incidents: [{ message: expect.stringMatching(/^Contact: changes are PENDING for 12\d s/) }],
  });
});

test("an org whose calls are used up need not be connected again", async () => {
  await world.control("PUT", "/calls", { used: 15_000 });

  const { findings } = dataOf<{ findings: object[] }>(await api.ask(testSalesforce, "test-salesforce"));

  expect(findings).toEqual([
    expect.objectContaining({
      ok: false,
      remedy: expect.stringContaining("wait until calls of the last 24 hours expire"),
    }),
  ]);
});

const saving = async () => {
  const { findings } = dataOf<{ findings: { check: string; ok: boolean; message: string }[] }>(
    await api.ask(testSalesforce, "test-salesforce"),
  );
  return findings.filter(({ check }) => check === "saving").map(({ ok, message }) => [ok, message]);
};

test("that records can be saved is asked of the org by an update of no record", async () => {
  expect(await saving()).toEqual([[true, "Contact can be saved: the user may, and Salesforce is ready"]]);
  expect(await world.soql("SELECT Id FROM Contact")).toEqual([]);
});
