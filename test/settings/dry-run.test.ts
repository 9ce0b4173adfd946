import type { ReadDryRunData, ReadMappingData } from "bridge/api";
import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { plannedBudget } from "../support/doubles/planned-budget.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { carryOut } from "../support/worlds/carry-out.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
let token: string;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  token = await tokenFor(world.workspaceId);
});

/** A table of the application's, and records of the same keys; the first `differing` say something else. */
async function bothHave(people: number, differing: number, bridge: object = {}): Promise<void> {
  await world.createRecords(
    "Contact",
    Array.from({ length: people }, (_, at) => ({
      LastName: `N${String(at).padStart(4, "0")}`,
      External_Id__c: `K-${at}`,
      Email: `n${at}@theirs.example`,
    })),
  );
  await world.sql(`CREATE SCHEMA IF NOT EXISTS salesforce;
    CREATE TABLE salesforce.contact (id bigserial PRIMARY KEY, lastname varchar(80), email varchar(80), external_id__c varchar(64) UNIQUE);
    INSERT INTO salesforce.contact (lastname, email, external_id__c)
    SELECT 'N' || lpad(n::text, 4, '0'), 'n' || n || CASE WHEN n < ${differing} THEN '@ours.example' ELSE '@theirs.example' END, 'K-' || n
    FROM generate_series(0, ${people - 1}) n`);
  const [fields, upsertField] = [["Email", "External_Id__c", "LastName"], "External_Id__c"];
  const settings = { conflict_policy: "postgres_wins", ...bridge };
  contact = await mapped(world, { object: "Contact", fields, upsertField, bridge: settings });
}

const ask = askingIn(() => ({ id: world.workspaceId, token }));
const at = () => ({ path: { mapping_id: contact.id } });
const shown = async () => dataOf<ReadDryRunData>(await ask("read-dry-run", at()));
const state = async () => dataOf<ReadMappingData>(await ask("read-mapping", at()));
const activate = async (query: Record<string, string>) => {
  const answer = await ask("activate-mapping", { ...at(), query });
  contact = (await world.mappings())[0] ?? contact;
  return answer;
};
/** Starts a dry run, and carries out what it asks for. */
async function compared(): Promise<ReadDryRunData> {
  expect(dataOf(await ask("start-dry-run", at()))).toMatchObject({ state: "running", read: 0 });
  await carryOut(cloud, world.services);
  return await shown();
}
const newEvents = async () => {
  const events = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = events.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return (await world.events(mine.map(({ event_id }) => event_id))).filter(({ event }) => event.startsWith("sync."));
};
const threeCycles = async () => {
  for (let i = 0; i < 3; i++) await world.cycle(contact);
};
const theirs = async () => {
  const records = await world.soql("SELECT Email FROM Contact");
  return records.filter(({ Email }) => String(Email).endsWith("@theirs.example")).length;
};
const everything = () =>
  world.sql(`SELECT (SELECT jsonb_agg(t ORDER BY id) FROM salesforce.contact t) AS rows,
    (SELECT count(*)::int FROM salesforce._trigger_log) AS changes, (SELECT count(*)::int FROM salesforce._bridge_conflicts) AS conflicts`);

test("a dry run before activation shows what would change, in pages, with samples, and changes nothing", async () => {
  await bothHave(2_300, 2_100, { active: false });
  await world.sql("UPDATE salesforce.contact SET lastname = 'Other' WHERE id = 1");
  const before = await everything();
  expect(await shown()).toMatchObject({ state: "none", records: null, confirmed: false });

  const found = await compared();

  expect(found).toMatchObject({
    state: "done",
    records: 2_300,
    read: 2_300,
    matched: 2_300,
    differing: 2_100,
    records_changed: 2_100,
    rows_changed: 0,
    fields: [
      { field: "Email", rows: 2_100 },
      { field: "LastName", rows: 1 },
    ],
    digest: expect.stringMatching(/^[0-9a-f]{32}$/),
    confirmed: false,
  });
  expect(found).toHaveProperty("samples.length", 5);
  expect(found).toHaveProperty("samples.0.differences", [
    { field: "Email", postgres: "n0@ours.example", salesforce: "n0@theirs.example", winner: "postgres", refused: null },
    { field: "LastName", postgres: "Other", salesforce: "N0000", winner: "postgres", refused: null },
  ]);
  expect(await everything()).toEqual(before);
  expect(await world.soql("SELECT Id FROM Contact WHERE Email LIKE '%ours%'")).toEqual([]);
  expect((await compared()).digest, "the same findings have the same digest").toBe(found.digest);
  await world.sql("UPDATE salesforce.contact SET email = 'else@theirs.example' WHERE id = 2300");
  expect((await compared()).digest).not.toBe(found.digest);
});

test("an activation that would change more than 100 records waits for the digest of its dry run, and nothing is sent", async () => {
  await bothHave(150, 101);
  // Captured while it waits: it goes with the rest.
  await world.sql("UPDATE salesforce.contact SET lastname = 'Captured' WHERE id = 150");
  const before = await everything();

  await threeCycles();
  await world.work(contact, "load");

  expect(await everything()).toEqual(before);
  expect(await theirs()).toBe(150);
  const message = expect.stringMatching(
    /^the first load would change 101 records of Contact .*bridge mapping dry-run Contact.*--digest \w+/,
  );
  expect(await newEvents()).toMatchObject([{ event: "sync.broken", detail: { reason: "first_match", message } }]);
  expect(await state()).toMatchObject({ state: "broken", failure: "first_match", reason: message });
  const digest = String((await shown()).digest);

  expect((await activate({ digest: "0".repeat(32) })).json?.error?.code).toBe("CONFLICT");
  await carryOut(cloud, world.services);
  expect(await theirs()).toBe(150);

  expect((await activate({ digest })).status).toBe(200);
  await carryOut(cloud, world.services);
  await threeCycles();

  expect(await theirs()).toBe(49);
  const [captured] = await world.soql("SELECT External_Id__c FROM Contact WHERE LastName = 'Captured'");
  expect(captured).toEqual({ External_Id__c: "K-149" });
  expect((await newEvents()).map(({ event }) => event)).toEqual(["sync.recovered"]);
  expect(await state()).toMatchObject({ state: "running", failure: null });
  const { entries } = await auditedIn(world.workspaceId, "mapping.dry_run_confirmed", 10);
  expect(entries.map(({ detail }) => detail["digest"])).toEqual([digest, "0".repeat(32)]);
});

test.each([
  ["postgres_wins", { records_changed: 120, rows_changed: 0 }, { confirmed: true }],
  ["salesforce_wins", { records_changed: 0, rows_changed: 120 }, { confirmed: false }],
])("a mapping that was looked at before loads at once, by %s with its digest alone", async (policy, changes, is) => {
  await bothHave(150, 120, { active: false, conflict_policy: policy });
  const found = await compared();

  await activate(is.confirmed ? { digest: String(found.digest) } : {});
  await carryOut(cloud, world.services);
  await threeCycles();

  expect(found).toMatchObject(changes);
  expect([await theirs(), await newEvents()]).toEqual([is.confirmed ? 30 : 150, []]);
  expect(await shown()).toMatchObject(is);
});

test("a digest is agreed to for the mapping as it was: with other fields, the first load waits for another one", async () => {
  await bothHave(101, 101, { active: false });
  const { digest } = await compared();
  await activate({ digest: String(digest) });
  await ask("update-mapping", { ...at(), body: { fields: ["Email", "External_Id__c", "LastName", "Phone"] } });
  await carryOut(cloud, world.services);
  contact = (await world.mappings())[0] ?? contact;
  await threeCycles();

  expect([await theirs(), (await newEvents()).map(({ event }) => event)]).toEqual([101, ["sync.broken"]]);
});

test("a dry run for which no calls are left is carried out when there are some again", async () => {
  await bothHave(3, 1, { active: false });
  const plan = (spareCalls: number) => {
    const usage = { used: 1, limit: 100, at: new Date(cloud.clock.now()) };
    return world.services.engine.saveBudget(world.workspaceId, async () => plannedBudget(usage, { spareCalls }));
  };
  await plan(0);
  expect((await compared()).read).toBe(0);
  await world.pass(310);
  await plan(100);
  await carryOut(cloud, world.services);

  expect(await shown()).toMatchObject({ state: "done", read: 3, differing: 1 });
});

test("up to 100 records need no digest, however many rows match", async () => {
  await bothHave(300, 100);
  await threeCycles();

  expect(await theirs()).toBe(200);
  expect(await newEvents()).toEqual([]);
});

test("a dry run that fails breaks nothing of its mapping, and one that meets a pause runs after it", async () => {
  await bothHave(1, 1);
  await ask("start-dry-run", at());
  await cloud.take("loads");
  world.interfere((call) => {
    if (call === "org.query") throw new Error("the org is gone");
  });
  for (let tries = 0; tries < 3; tries += 1) await expect(world.work(contact, "dry_run")).rejects.toThrow();
  expect(await state()).toMatchObject({ state: "running", failure: null });
  await ask("switch-pause", { body: { paused: true } });
  await world.pass(3);
  await world.work(contact, "dry_run");
  await world.pass(300);
  expect(await cloud.take("loads")).toMatchObject([{ kind: "dry_run" }]);
});

test("a dry run that Salesforce refuses says why, and continues from its last page", async () => {
  await bothHave(2_300, 3, { active: false });
  await ask("start-dry-run", at());
  await cloud.take("loads");
  let queries = 0;
  world.interfere((call) => {
    if (call === "org.query" && ++queries === 2) throw new Error("the org is gone");
  });
  await expect(world.work(contact, "dry_run")).rejects.toThrow();
  world.interfere(null);
  expect(await shown()).toMatchObject({ state: "failing", read: 2_000, error: expect.any(String) });

  await world.work(contact, "dry_run");

  expect(await shown()).toMatchObject({ state: "done", read: 2_300, differing: 3, error: null });
  expect(await state()).toMatchObject({ state: "paused", failure: null });
});
