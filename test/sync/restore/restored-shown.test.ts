import type { SQSEvent } from "aws-lambda";
import { beforeEach, expect, test } from "vitest";
import { handler as acceptRestore } from "../../../functions/api/accept-restore.ts";
import { handler as listMappingStates } from "../../../functions/api/list-mapping-states.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as readRestorePlan } from "../../../functions/api/read-restore-plan.ts";
import { handler as readRowStory } from "../../../functions/api/read-row-story.ts";
import { counters, engineReports } from "../../../functions/services/composition.ts";
import { handler as sweepMinute } from "../../../functions/workers/sweep-minute.ts";
import { scraper } from "../../../lib/metrics/scrape.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type ApiClient, apiClient } from "../../support/clients/api-client.ts";
import { dataOf } from "../../support/clients/data-of.ts";
import { takeBackup } from "../../support/worlds/backups.ts";
import { carryOut, importMappings } from "../../support/worlds/carry-out.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";

const asked = (policy: string) => [
  {
    object: "Contact",
    fields: ["LastName", "Email", "External_Id__c"],
    upsertField: "External_Id__c",
    bridge: { conflict_policy: policy },
  },
];

let world: SyncWorld;
let contact: Mapping;
let api: ApiClient;
aWorldForEachTest((made) => {
  ({ world } = made);
});
beforeEach(async () => {
  api = await apiClient(world.workspaceId);
  await world.map(...asked("salesforce_wins"));
  contact = await only();
  await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Ada', 'a')");
  for (const _ of [1, 2]) await world.cycle(contact);
  await world.pass(600);
});

const only = async () => (await world.mappings())[0] as Mapping;

/** What each place shows of the mapping. */
async function shown() {
  const [state] = dataOf<{ state: string; failure: string; reason: string }[]>(
    await api.ask(listMappingStates, "list-mapping-states"),
  );
  const { sync, incidents = [] } = dataOf<{
    sync: { status: string };
    incidents?: { message: string; commands: string[] }[];
  }>(await api.ask(readHealth, "read-health", { query: { incidents: "true" } }));
  const { mappings } = dataOf<{ mappings: { state: string; groups: { group: string; rows: number }[] }[] }>(
    await api.ask(readRestorePlan, "read-restore-plan"),
  );
  const row = dataOf<{ remedy: string | null }>(
    await api.ask(readRowStory, "read-row-story", { path: { table: "contact", key: "a" } }),
  );
  await sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);
  // Not by the endpoint: a scrape shows what was read up to five seconds ago. It shows the workspace of the other test, too.
  const text = await scraper(counters(), engineReports())(new Date());
  const metric = (name: string) =>
    Number(new RegExp(`^bridge_mapping_${name}\\{[^}]*"${contact.id}"[^}]*\\} (\\d)$`, "m").exec(text)?.[1] ?? 0);
  return {
    health: sync.status,
    incidents: incidents.map(({ message, commands }) => ({ message, commands })),
    state: state?.state,
    failure: state?.failure,
    reason: state?.reason?.split(":")[0],
    plan: mappings.map((one) => [one.state, ...one.groups.map(({ group, rows }) => `${rows} ${group}`)].join(", ")),
    row: row.remedy,
    broken: metric("broken"),
    stalled: metric("stalled"),
  };
}

const DECIDE = { commands: ["bridge restore plan", "bridge restore accept Contact"] };

const restored = (what: string) => ({ ...DECIDE, message: `Contact: ${what} was restored to an earlier time` });

test("a restored DynamoDB whose configuration is behind is seen everywhere", async () => {
  const backup = await takeBackup(world);
  await importMappings(world.workspaceId, asked("postgres_wins"));
  await carryOut(world.cloud, world.services);
  contact = await only();
  await world.cycle(contact);
  await backup.restoreDynamoDb();
  contact = await only();
  for (const _ of [1, 2, 3]) await world.cycle(contact);

  expect(await shown()).toEqual({
    ...{ health: "broken", state: "broken", failure: "config_behind", reason: "CONFIG_BEHIND" },
    incidents: [restored("DynamoDB")],
    ...{ plan: ["config_behind"], row: null, broken: 1, stalled: 1 },
  });
});

test("a restored database is seen everywhere, and what is left of it until a person decides", async () => {
  await world.sql("UPDATE salesforce.contact SET email = 'old@example.com'");
  const backup = await takeBackup(world);
  await world.cycle(contact);
  await world.pass(600);
  const [ada] = await world.soql("SELECT Id FROM Contact WHERE External_Id__c = 'a'");
  await world.colleague("PATCH", `/sobjects/Contact/${ada?.["Id"]}`, { Email: "new@example.com" });
  for (const _ of [1, 2]) await world.cycle(contact);
  await backup.restorePostgres();
  for (const _ of [1, 2]) await world.cycle(contact);

  expect(await shown()).toEqual({
    ...{ health: "broken", state: "broken", failure: "database_rewound", reason: "DATABASE_REWOUND" },
    incidents: [restored("the database")],
    ...{ plan: ["restored_copy, 1 newer"], row: "bridge restore accept Contact", broken: 1, stalled: 1 },
  });

  const body = { newer: "leave" };
  await api.ask(acceptRestore, "accept-restore", { path: { mapping_id: contact.id }, body });
  for (const _ of [1, 2]) await world.cycle(contact);

  expect(await shown()).toEqual({
    ...{ health: "degraded", state: "running", failure: null, reason: undefined },
    incidents: [{ ...DECIDE, message: "Contact: changes of 1 rows wait for a decision since a restore" }],
    ...{ plan: ["in_step, 1 newer"], row: "bridge restore accept Contact", broken: 0, stalled: 1 },
  });
});
