import { beforeEach, expect, test } from "vitest";
import { database, importPlans, mappings } from "../../../../functions/services/composition.ts";
import { type CachedMappings, cachedMappings } from "../../../../lib/adapters/dynamodb/mappings/mapping-cache.ts";
import { newId } from "../../../../lib/model/id.ts";
import type { Mapping } from "../../../../lib/model/mapping/mapping.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { countCalls } from "../../../support/checks/count-writes.ts";
import { mappingOf } from "../../../support/worlds/shapes.ts";
import { aCloud } from "../../cloud.ts";

aCloud();
let workspaceId: string;
let contact: Mapping;
let account: Mapping;
let cached: CachedMappings;
beforeEach(async () => {
  workspaceId = newId("ws");
  contact = await made("Contact");
  account = await made("Account");
  cached = cachedMappings(database());
});

/** A mapping whose tables are created. */
async function made(sfObject: string): Promise<Mapping> {
  const shape = { table: sfObject.toLowerCase(), sfObject, direction: "bidirectional", columns: [] } as const;
  const like = { ...shape, mappingId: newId("map"), upsertField: null, conflictPolicy: "latest_wins" };
  const after = mappingOf({ ...like, configVersion: 1 } as unknown as TableShape, workspaceId);
  await change(null, after);
  return finish(after);
}

async function change(before: Mapping | null, after: Mapping): Promise<void> {
  const { generation } = await mappings().list(workspaceId);
  const changes = [{ before, after }];
  expect(await mappings().change(workspaceId, generation, { changes, audit: [], events: [] })).toBe(true);
}

async function finish(mapping: Mapping): Promise<Mapping> {
  const provisioning = { state: "ready", version: mapping.configVersion } as const;
  await mappings().setProvisioning(workspaceId, mapping.id, mapping.configVersion, provisioning);
  return { ...mapping, provisioning };
}

const ids = () => [contact.id, account.id];
const read = async () => Object.fromEntries(await cached.read(workspaceId, ids()));

test("unchanged mappings are read once, and then only their generation", async () => {
  expect(await read()).toEqual({ [contact.id]: contact, [account.id]: account });

  expect(await countCalls(read)).toEqual({ "GetItem mappings": 1 });
  expect(await read()).toEqual({ [contact.id]: contact, [account.id]: account });
});

test("a mapping that is changed, deactivated, deleted or has its tables is so at the next reading", async () => {
  await read();

  const changed = { ...contact, configVersion: 2, pollingSeconds: 60 };
  await change(contact, changed);
  expect(await read()).toMatchObject({ [contact.id]: { configVersion: 2, pollingSeconds: 60 } });

  const still = { ...changed, configVersion: 3, active: false };
  await change(changed, still);
  expect(await read()).toMatchObject({ [contact.id]: { active: false } });
  expect(await cached.listActive(workspaceId)).toEqual([account]);

  await change(still, { ...still, configVersion: 4, deletedAt: new Date() });
  expect(await read()).toEqual({ [account.id]: account });

  // One whose tables are being created is read until they are.
  const next = { ...account, configVersion: 2, provisioning: { state: "pending" } } as const;
  await change(account, next);
  expect(await read()).toMatchObject({ [account.id]: { provisioning: { state: "pending" } } });
  const ready = await finish(next);
  expect(await read()).toEqual({ [account.id]: ready });
  expect(await countCalls(read)).toEqual({ "GetItem mappings": 1 });
});

test("an import holds for all of its mappings from the moment that it is committed, and when it is carried out", async () => {
  await read();
  const changes = [{ before: contact, after: { ...contact, configVersion: 2, pollingSeconds: 3600 } }];
  const plan = { id: newId("imp"), workspaceId, actor: "a@example.com", at: new Date() };
  const said = {
    action: "config.imported",
    resourceId: plan.id,
    detail: { created: 0, updated: 1, skipped: 0 },
  } as const;
  const recorded = { id: newId("aud"), workspaceId, actor: plan.actor, ...said, createdAt: plan.at };
  const { generation } = await mappings().list(workspaceId);

  expect(await importPlans().commit({ ...plan, changes }, generation, recorded)).toBe(true);
  expect(await read()).toMatchObject({ [contact.id]: { pollingSeconds: 3600 }, [account.id]: account });

  await importPlans().carryOut(plan.id, { changes, audit: [], events: [] });
  await importPlans().close(workspaceId, plan.id);
  expect(await read()).toMatchObject({ [contact.id]: { pollingSeconds: 3600 }, [account.id]: account });
});

test("a process whose cache is full begins again with an empty one", async () => {
  cached = cachedMappings(database(), 15);

  expect(await read()).toEqual({ [contact.id]: contact, [account.id]: account });
  expect(await cached.listActive("ws_other")).toEqual([]);

  expect(Object.keys(await countCalls(read))).toContain("Query mappings");
  expect(await read()).toEqual({ [contact.id]: contact, [account.id]: account });
});
