import { expect, test } from "vitest";
import { mappings as kept } from "../../../functions/services/composition.ts";
import { provisioningServices, schedules, swept } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { ProvisioningMessage } from "../../../lib/model/messages.ts";
import { viewMapping } from "../../../lib/settings/mapping-view.ts";
import { sweep } from "../../../lib/sync/beat/sweep-minute.ts";
import { provisionMapping } from "../../../lib/sync/schema/provision-mapping.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { Row, SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
});

const log: Row[] = [];
const provision = (more: object = {}) =>
  provisionMapping(
    { ...provisioningServices(cloud.clock.now() + 300_000), log: (line: Row) => log.push(line) },
    { workspace_id: contact.workspaceId, mapping_id: contact.id, import_id: null, ...more },
  );
const view = async () => {
  const mapping = await kept().find(contact.workspaceId, contact.id);
  if (!mapping) throw new Error("the mapping is gone");
  return viewMapping(mapping, 0);
};

test("a try that fails keeps its reason, is handed out again, and the minute sweep sends another one", async () => {
  await world.asSuperuser(`
    CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'secret of the customer'; END $$;
    CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION public.refuse()`);

  await expect(provision({ anew: true })).rejects.toThrow("secret of the customer");

  const failed = await view();
  expect(failed).toMatchObject({
    state: "provisioning_failed",
    reason: expect.stringMatching(/^PostgreSQL refused \(SQLSTATE P0001\): .*; Bridge tries again every minute$/),
  });
  expect(failed.reason).not.toContain("secret of the customer");
  expect(log.at(-1)).toMatchObject({ level: "error", event: "provisioning", state: "pending", reason: failed.reason });

  await world.asSuperuser("DROP EVENT TRIGGER refuse");
  const asked: ProvisioningMessage[] = [];
  const clock = { ...cloud.clock, now: () => cloud.clock.now() + 3 * 60_000 };
  await sweep({
    mappings: kept(),
    schedules: schedules(),
    swept: swept(),
    queues: {
      provisioning: { send: async (messages) => void asked.push(...messages.map(({ message }) => message)) },
      loads: { send: async () => undefined },
    },
    clock,
    log: () => undefined,
  });
  expect(asked.filter(({ describe }) => describe !== true)).toEqual([
    { workspace_id: contact.workspaceId, mapping_id: contact.id, import_id: null },
  ]);
  await provision();

  expect(await view()).toMatchObject({ state: "running", reason: null });
  expect(log.at(-1)).toMatchObject({ level: "info", event: "provisioning", state: "ready", version: 1 });
});
