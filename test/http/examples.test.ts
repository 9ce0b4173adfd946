import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { now, pepper, tokens, workspaces } from "../../functions/services/composition.ts";
import { ensureDeployment } from "../../lib/access/bootstrap.ts";
import { createToken } from "../../lib/access/create-token.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import { ROUTES } from "../../lib/http/routes.ts";
import type { CycleMessage } from "../../lib/model/messages.ts";
import { handleCycleMessage } from "../../lib/sync/beat/handle-cycle-message.ts";
import { ask as askApi } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import type { Request } from "../support/clients/call.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { createTestDatabase } from "../support/worlds/postgres.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";
import { exampleOf } from "./example-of.ts";

/** `BRIDGE_EXAMPLES=write vitest run test/http/examples.test.ts` writes them again; `npm run openapi` puts them into the document. */
const WRITES = process.env["BRIDGE_EXAMPLES"] === "write";
const FILE = join(import.meta.dirname, "../../lib/http/openapi/examples.json");

interface Example {
  readonly request?: unknown;
  readonly response: unknown;
}

let cloud: BridgeCloud;
let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ cloud, world } = made);
});

/** What the audit log says of them all, in this order. */
const AUDITED = [
  ...["workspace.renamed", "token.created", "invitation.created", "invitation.accepted", "token.created"],
  ...["token.revoked", "connection.postgres_changed", "mapping.created", "doorbell.created", "doorbell.rotated"],
  ...["doorbell.removed", "mapping.poll_triggered", "mapping.poll_triggered", "rows.retried", "rows.retried"],
  ...["rows.dismissed", "records.retried", "conflicts.overruled", "rows.restored", "rows.written"],
  ...["deletes.confirmed", "deletes.rejected", "rows.pushed", "workspace.restore_begun", "mapping.restore_accepted"],
  ...["mapping.reloaded", "mapping.sweep_requested", "mapping.compared", "mapping.captured", "config.baseline_saved"],
  ...["mapping.updated", "mapping.deactivated", "mapping.activated", "mapping.deleted", "mapping.restored"],
  ...["workspace.paused", "workspace.resumed", "webhook.created", "webhook.updated", "webhook.updated"],
  ...["webhook.secret_rotated", "webhook.tested", "webhook.delivery_retried", "webhook.deleted"],
  ...["connection.postgres_changed", "connection.salesforce_authorized", "connection.salesforce_authorized"],
];

/** Operations that give no JSON. */
const WITHOUT: readonly string[] = ["read-metrics", "ring"];

async function tokenOf(workspaceId: string): Promise<string> {
  const by = { workspaceId, name: "ci", owner: "ada@example.com", actor: "ada@example.com", validUntil: null };
  const needs = { tokens: tokens(), pepper: pepper() };
  return (await createToken(needs, { ...by, scopes: ["admin"], at: now() })).token;
}

test("every example in the document is what an instance answers to its request, but for ids, times and addresses, and each act is audited", async () => {
  const found: Record<string, Example> = {};
  await world.pass(1); // things that were created in one moment are listed in no order
  const token = await tokenOf(world.workspaceId);
  await world.pass(1);
  const normalise = exampleOf();
  const ask = async <Data>(route: RouteName, { path = {}, ...request }: Request = {}): Promise<Data> => {
    const answer = await askApi(route, { token, path: { workspace_id: world.workspaceId, ...path }, ...request });
    if (answer.status !== 200) throw new Error(`${route} answered ${answer.status}: ${answer.text}`);
    const body = request.body === undefined ? {} : { request: normalise(request.body) };
    found[route] ??= { ...body, response: normalise(answer.json) };
    return answer.json?.data as Data;
  };
  /** Asks what needs no more than the path. */
  const askEach = async (routes: readonly RouteName[], path: Request["path"] = {}) => {
    for (const route of routes) await ask(route, { path });
  };
  const runCycles = async () => {
    for (const message of (await cloud.take("cycles")) as CycleMessage[]) {
      await handleCycleMessage(world.services, message, { owner: "test", deadline: cloud.clock.now() + 180_000 });
    }
  };

  await ask("rename-workspace", { body: { name: "Acme" } });
  await askEach(["read-workspace", "read-own-token"]);
  const made = await ask<{ id: string }>("create-token", {
    body: { name: "monitor", owner: "ada@example.com", scopes: ["read"], valid_days: 90 },
  });
  await world.pass(1);
  const invited = await ask<{ token: string }>("create-token", {
    body: { name: "Ada", owner: "ada@example.com", scopes: ["read"], invitation: true },
  });
  await world.pass(1);
  await ask("accept-invitation", { token: invited.token });
  await ask("list-tokens");
  await ask("revoke-token", { path: { token_id: made.id } });
  await ask("read-connections");
  await ask("change-retention", { body: { log_days: 31, log_autovacuum: { vacuum_scale_factor: 0.02 } } });
  await ask("change-budget", { body: { calls_share: 0.8, most_calls: null } });
  await askEach(["test-postgres", "test-salesforce", "list-objects"]);
  await ask("read-object", { path: { object_name: "Contact" } });

  const fields = ["Email", "External_Id__c", "LastName"];
  const asked = { fields, upsert_field: "External_Id__c", sync_direction: "bidirectional" };
  await ask("create-mapping", { body: { sf_object: "Contact", ...asked } });
  const contact = await mapped(world, { object: "Contact", fields, upsertField: "External_Id__c" });
  const path = { mapping_id: contact.id };
  await world.cycle(contact);
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, email, external_id__c) VALUES ('Lovelace', 'ada@example.com', 'c-1'), (NULL, NULL, 'c-2')",
  );
  await ask("abort-poll", { path });
  await ask("nudge", { query: { table: "contact" } });
  process.env["BASE_URL"] = "https://bridge.example.com";
  await askEach(["make-doorbell", "read-doorbell"]);
  await ask("make-doorbell", { query: { rotate: "true" } });
  await ask("remove-doorbell");
  delete process.env["BASE_URL"];
  await cloud.take("cycles");
  await ask("poll-now", { path });
  await runCycles();
  const marks = await ask<readonly { id: number; state: string }[]>("list-activity");
  await ask("read-change", { path: { change_id: String(marks.find(({ state }) => state === "FAILED")?.id) } });
  await ask("list-errors");
  const [kind] = await ask<readonly { fingerprint: string }[]>("list-failures");
  // Transactions of other tests on the same server end soon.
  do delete found["list-changes"];
  while ((await ask<{ waiting: boolean }>("list-changes", { query: { limit: "2" } })).waiting);
  await askEach(["list-mappings", "list-mapping-states", "read-mapping", "read-health", "read-budget"], path);
  await ask("read-throughput", { query: { minutes: "60" } });
  const again = await askApi("poll-now", { token, path: { workspace_id: world.workspaceId, ...path } });
  await runCycles();
  await ask("read-cycle", { path: { ...path, mark: again.headers["Bridge-Cycle"] ?? "" } });
  await ask("retry-row", { path: { row_id: String(marks.find(({ state }) => state === "FAILED")?.id) } });
  await runCycles();
  await world.cycle(contact);
  await ask("retry-rows", { body: { table: "contact" } });
  await world.cycle(contact);
  await ask("dismiss-rows", { body: { fingerprint: kind?.fingerprint } });
  await askEach(["list-inbound-errors", "retry-inbound"], path);

  const [ada] = await world.sql("SELECT sfid FROM salesforce.contact WHERE external_id__c = 'c-1'");
  await world.sql("UPDATE salesforce.contact SET email = 'ours@example.com' WHERE external_id__c = 'c-1'");
  await world.rest("PATCH", `/sobjects/Contact/${ada?.["sfid"]}`, { Email: "theirs@example.com" });
  await world.cycle(contact);
  const [conflict] = await ask<readonly { id: number }[]>("list-conflicts");
  await ask("use-other-value", { path: { conflict_id: String(conflict?.id) } });
  await ask("read-row-story", { path: { table: "contact", key: "1" } });
  await world.sql("DELETE FROM salesforce.contact WHERE id = 1");
  await ask("restore-row", { path: { table: "contact", key: "1" } });
  await ask("write-row", { path: { table: "contact", key: "1" }, body: { values: { email: "ada@example.com" } } });
  await askEach(["list-rows", "list-proposals", "list-held-deletes", "confirm-deletes"], path);
  await ask("reject-deletes", { path, body: {} });
  await askEach(["push-existing", "begin-restore"], path);
  await world.cycle(contact);
  await ask("read-restore-plan");
  await ask("accept-restore", { path, body: { newer: "salesforce", only_here: "ours" } });
  await askEach(["reload-mapping", "compare-mapping", "start-dry-run", "read-dry-run"], path);
  await ask("capture-mapping", { path, query: { dry_run: "true" }, body: { uncaptured: "mine" } });
  await ask("capture-mapping", { path, body: { uncaptured: "salesforce" } });

  const document = await ask<{ version: number }>("export-config");
  await ask("import-config", { body: document, query: { dry_run: "true" } });
  await ask("save-baseline");
  await ask("update-mapping", { path, body: { sf_polling_seconds: 60 } });
  const switches = ["deactivate-mapping", "activate-mapping", "delete-mapping", "restore-mapping"] as const;
  await askEach(["read-drift", ...switches], path);
  await ask("switch-pause", { body: { paused: true, reason: "the org moves" } });
  await ask("switch-pause", { body: { paused: false } });

  const subscribed = { events: ["sync.broken", "record.failed"], description: "on call" };
  const webhook = await ask<{ id: string }>("create-webhook", {
    body: { url: "https://hooks.example.com/bridge", ...subscribed },
  });
  const hook = { webhook_id: webhook.id };
  await askEach(["list-webhooks", "read-webhook"], hook);
  await ask("change-webhook", { path: hook, body: { active: false } });
  await ask("change-webhook", { path: hook, body: { active: true } });
  await ask("rotate-webhook-secret", { path: hook });
  await ask("replay-webhook", { path: hook, query: { since: "2026-01-31" } });
  const tried = await ask<{ delivery_id: string }>("test-webhook", { path: hook });
  const delivery = { ...hook, delivery_id: tried.delivery_id };
  await askEach(["list-deliveries", "read-delivery", "retry-delivery", "delete-webhook"], delivery);
  await ask("list-audit-log", { query: { limit: "2" } });
  await ask("change-postgres", { body: { max_connections: 5 } });
  await ask("set-postgres", { body: { url: world.databaseUrl }, query: { dry_run: "true" } });
  const { url: login_url, clientId: client_id, clientSecret: client_secret } = world.org;
  await ask("set-salesforce", {
    body: { login_url, credentials: { kind: "client_credentials", client_id, client_secret } },
  });
  const client = { login_url, client_id, redirect_uri: "http://localhost:1717/callback" };
  const begun = await ask<{ authorize_url: string; state: string }>("authorize-salesforce", { body: client });
  const landed = await fetch(begun.authorize_url, { redirect: "manual" });
  const code = new URL(landed.headers.get("location") ?? "").searchParams.get("code");
  await ask("complete-salesforce", { body: { state: begun.state, code } });
  await ensureDeployment(workspaces(), "oncall@example.com", now());
  await ask("read-fleet", { path: { workspace_id: "deployment" }, token: await tokenOf("deployment") });
  const theirs = await createTestDatabase();
  onTestFinished(() => theirs.close());
  const application = new Client({ connectionString: theirs.url, application_name: "heroku-connect" });
  await application.connect();
  await application.query(herokuConnectSchema([{ table: "contact", columns: { lastname: "varchar(80)" } }]));
  await application.end();
  const adopting = await createTestWorkspace({ postgres: { url: theirs.url, schema: "salesforce" } });
  await ask("adopt-heroku-connect", {
    path: { workspace_id: adopting.id },
    token: adopting.token,
    query: { dry_run: "true" },
  });

  const { entries } = await auditedIn(world.workspaceId, null, 500);
  const acts = entries.toReversed().slice(3); // behind those that made this world
  expect(acts.map(({ action }) => action)).toEqual(AUDITED);
  expect(new Set(acts.map(({ actor }) => actor))).toEqual(new Set(["ada@example.com"]));
  const onMapping = acts.filter(({ action }) => /^(mapping|rows|records|conflicts|deletes)/.test(action));
  expect(new Set(onMapping.map(({ resourceId }) => resourceId))).toEqual(new Set([contact.id]));
  if (WRITES) writeFileSync(FILE, `${JSON.stringify(found, null, 1)}\n`);
  expect(found).toEqual(JSON.parse(readFileSync(FILE, "utf8")));
  expect((Object.keys(ROUTES) as RouteName[]).filter((name) => !(name in found) && !WITHOUT.includes(name))).toEqual(
    [],
  );
});
