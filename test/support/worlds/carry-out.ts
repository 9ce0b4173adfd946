import pLimit from "p-limit";
import { now, workspaces } from "../../../functions/services/composition.ts";
import { mappingServices } from "../../../functions/services/mapping-services.ts";
import { provisioningServices } from "../../../functions/services/provisioning-services.ts";
import { importConfig as importDocument } from "../../../lib/config/import-config.ts";
import type { LoadMessage, ProvisioningMessage } from "../../../lib/model/messages.ts";
import { handleLoadMessage } from "../../../lib/sync/load/handle-load-message.ts";
import type { MessageNeeds } from "../../../lib/sync/ports/cycle-ports.ts";
import { provisionMapping } from "../../../lib/sync/schema/provision-mapping.ts";
import type { BridgeCloud } from "./bridge-cloud.ts";

/** A mapping's settings, as a config document has them. */
export interface Asked {
  readonly object: string;
  readonly fields: readonly string[];
  readonly upsertField?: string;
  readonly bridge?: Readonly<Record<string, unknown>>;
  readonly pollingSeconds?: number;
  /** The doorbell wakes its pulls. */
  readonly notify?: boolean;
}

/** Imports mappings into a workspace, as its owner would. */
export async function importMappings(workspaceId: string, asked: readonly Asked[]): Promise<void> {
  const workspace = await workspaces().find(workspaceId);
  if (!workspace) throw new Error("the test's workspace is gone");
  const document = { version: 1, mappings: asked.map(entryOf) };
  const by = { workspace, actor: "owner@example.com", at: now(), dryRun: false, ifMatch: null };
  await importDocument({ ...mappingServices(), readCost: async () => ({}) }, { ...by, document });
}

/** A mapping as a config document says it. */
export function entryOf({ object, fields, upsertField, bridge, pollingSeconds = 10, notify = false }: Asked) {
  return {
    object_name: object,
    config: {
      access: bridge?.["sync_direction"] === "sf_to_pg" ? "read_only" : "read_write",
      sf_notify_enabled: notify,
      sf_polling_seconds: pollingSeconds,
      fields: Object.fromEntries(fields.map((field) => [field, {}])),
      ...(upsertField && { upsert_field: upsertField }),
      ...(bridge && { bridge }),
    },
  };
}

/** Workspaces that are gone: what they asked for last, perhaps with a delay, is not the next test's work. */
export const closedWorkspaces = new Set<string>();

const isOpen = (message: unknown): boolean =>
  !closedWorkspaces.has((message as { readonly workspace_id: string }).workspace_id);

/** Tables, schedules and first loads, as the workers would make them; `atOnce` of them at the same time. */
export async function carryOut(cloud: BridgeCloud, services: MessageNeeds, atOnce = 1): Promise<void> {
  Object.assign(process.env, {
    SCHEDULE_GROUP: "default",
    SCHEDULER_ROLE_ARN: `arn:aws:iam::${cloud.accountId}:role/beat`,
    FAN_OUT_QUEUE_ARN: `arn:aws:sqs:${cloud.region}:${cloud.accountId}:bridge-test-fanOut`,
  });
  const until = cloud.clock.now() + 300_000;
  const limit = pLimit(atOnce);
  await limit.map((await cloud.take("provisioning")).filter(isOpen) as ProvisioningMessage[], (message) =>
    provisionMapping({ ...provisioningServices(until), log: services.log }, message),
  );
  await limit.map((await cloud.take("loads")).filter(isOpen) as LoadMessage[], (message) =>
    handleLoadMessage(services, message, { owner: "a test", deadline: until }),
  );
}
