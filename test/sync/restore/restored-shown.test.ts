import { expect, test } from "vitest";
import { handler as acceptRestore } from "../../../functions/api/accept-restore.ts";
import { handler as listMappingStates } from "../../../functions/api/list-mapping-states.ts";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as readRestorePlan } from "../../../functions/api/read-restore-plan.ts";
import { handler as readRowStory } from "../../../functions/api/read-row-story.ts";
import { counters, engineReports } from "../../../functions/services/composition.ts";
import { scraper } from "../../../lib/metrics/scrape.ts";
import { takeBackup } from "../../support/worlds/backups.ts";
import { eachInAWorld, world } from "../world.ts";

const map = (conflict_policy: string) =>
  world.mapContact(["LastName", "Email", "External_Id__c"], {
    upsertField: "External_Id__c",
    bridge: { conflict_policy },
  });

eachInAWorld(async () => {
  await map("salesforce_wins");
  await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Ada', 'a')");
  await world.cycles(2);
  await world.pass(600);
});

/** What each place shows of the mapping. */
async function shown() {
  const { ask } = world;
  const [state] = await ask<{ state: string; failure: string; reason: string }[]>(
    listMappingStates,
    "list-mapping-states",
  );
  const { sync, incidents = [] } = await ask<{
    sync: { status: string };
    incidents?: { message: string; commands: string[] }[];
  }>(readHealth, "read-health", { query: { incidents: "true" } });
  const { mappings } = await ask<{ mappings: { state: string; groups: { group: string; rows: number }[] }[] }>(
    readRestorePlan,
    "read-restore-plan",
  );
  const row = await ask<{ remedy: string | null }>(readRowStory, "read-row-story", {
    path: { table: "contact", key: "a" },
  });
  await world.sweepMinute();
  // Not by the endpoint: a scrape shows what was read up to five seconds ago. It shows the workspace of the other test, too.
  const text = await scraper(counters(), engineReports())(new Date());
  const metric = (name: string) =>
    Number(new RegExp(`^bridge_mapping_${name}\\{[^}]*"${world.contact.id}"[^}]*\\} (\\d)$`, "m").exec(text)?.[1] ?? 0);
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

const commands = ["bridge restore plan", "bridge restore accept Contact"];
const restored = (what: string) => ({ commands, message: `Contact: ${what} was restored to an earlier time` });

test("a restored DynamoDB whose configuration is behind is seen everywhere", async () => {
  const backup = await takeBackup(world);
  await map("postgres_wins");
  await world.cycles();
  await backup.restoreDynamoDb();
  world.contact = await world.mappingOf();
  await world.cycles(3);

  expect(await shown()).toEqual({
    ...{ health: "broken", state: "broken", failure: "config_behind", reason: "CONFIG_BEHIND" },
    incidents: [restored("DynamoDB")],
    ...{ plan: ["config_behind"], row: null, broken: 1, stalled: 1 },
  });
});

test("a restored database is seen everywhere, and what is left of it until a person decides", async () => {
  await world.sql("UPDATE salesforce.contact SET email = 'old@example.com'");
  const backup = await takeBackup(world);
  await world.cycles();
  await world.pass(600);
  await world.patch("Ada", { Email: "new@example.com" }, "colleague");
  await world.cycles(2);
  await backup.restorePostgres();
  await world.cycles(2);

  expect(await shown()).toEqual({
    ...{ health: "broken", state: "broken", failure: "database_rewound", reason: "DATABASE_REWOUND" },
    incidents: [restored("the database")],
    ...{ plan: ["restored_copy, 1 newer"], row: "bridge restore accept Contact", broken: 1, stalled: 1 },
  });
  expect(await world.ask(readRestorePlan, "read-restore-plan")).toHaveProperty("tokens.0.owner");

  const path = { mapping_id: world.contact.id };
  await world.api.ask(acceptRestore, "accept-restore", { path, body: { newer: "leave" } });
  await world.cycles(2);

  expect(await shown()).toEqual({
    ...{ health: "degraded", state: "running", failure: null, reason: undefined },
    incidents: [{ commands, message: "Contact: changes of 1 rows wait for a decision since a restore" }],
    ...{ plan: ["in_step, 1 newer"], row: "bridge restore accept Contact", broken: 0, stalled: 1 },
  });
});
