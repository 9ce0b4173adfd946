import { beforeEach, expect, test, vi } from "vitest";
import { handler as switchPause } from "../../../functions/api/switch-pause.ts";
import { now, pepper, tokens } from "../../../functions/services/composition.ts";
import { createToken } from "../../../lib/access/create-token.ts";
import { call } from "../../support/clients/call.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

// Forty days pass hour by hour.
vi.setConfig({ testTimeout: 240_000 });

let cloud: BridgeCloud;
let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ cloud, world } = made);
});
let request: { readonly token: string; readonly path: Readonly<Record<string, string>> };
beforeEach(async () => {
  const by = { workspaceId: world.workspaceId, name: "test", owner: "ada@example.com", actor: "ada@example.com" };
  const needs = { tokens: tokens(), pepper: pepper() };
  const { token } = await createToken(needs, { ...by, validUntil: null, at: now(), scopes: ["admin"] });
  request = { token, path: { workspace_id: world.workspaceId } };
});

const loadsAsked = async () => (await cloud.take("loads")) as { mapping_id: string; kind: "sweep" }[];

test("after a pause of forty days old changes are sent, and what was deleted beyond Salesforce's memory is found", async () => {
  const asked = { object: "Contact", fields: ["Email", "External_Id__c", "LastName"], upsertField: "External_Id__c" };
  const contact = await mapped(world, asked);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Gone'), ('Kept')");
  await world.cycle(contact);
  await world.cycle(contact);
  const [gone] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Gone'");
  await call(switchPause, "switch-pause", { ...request, body: { paused: true } });
  await world.pass(3);
  await world.sql("UPDATE salesforce.contact SET email = 'kept@example.com' WHERE lastname = 'Kept'");
  await world.rest("DELETE", `/sobjects/Contact/${gone?.["Id"]}`);
  await world.pass(40 * 86_400);
  await loadsAsked();

  await call(switchPause, "switch-pause", { ...request, body: { paused: false } });
  await world.pass(3);
  const sweeps = await loadsAsked();
  await world.cycle(contact);
  await world.cycle(contact);
  for (const { kind } of sweeps) await world.work(contact, kind);

  expect(sweeps).toMatchObject([{ mapping_id: contact.id, kind: "sweep" }]);
  expect(await world.sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Kept" }]);
  expect(await world.soql("SELECT LastName, Email FROM Contact")).toEqual([
    { LastName: "Kept", Email: "kept@example.com" },
  ]);
});
