import { isDeepStrictEqual } from "node:util";
import type { Mappings } from "../../config/ports.ts";
import { Failure } from "../../model/failure.ts";
import {
  failureOfProvisioning,
  type Mapping,
  migrationOf,
  type Provisioning,
  pulls,
} from "../../model/mapping/mapping.ts";
import { explainMigration, isAwaited, type Migration } from "../../model/mapping/migration.ts";
import type { ProvisioningMessage, Queues } from "../../model/messages.ts";
import type { Events } from "../../webhooks/ports.ts";
import { sendMissing } from "../beat/missing-beats.ts";
import type { Clock, Connections, Log } from "../ports/cycle-ports.ts";
import type { Schedules, Ticks } from "../ports/schedule-ports.ts";
import type { Provisioner } from "../ports/schema-ports.ts";
import { failureOf } from "../report/cycle-failure.ts";
import { emptyOutbox } from "../report/empty-outbox.ts";
import { bookCalls } from "./book-calls.ts";
import { describeShape } from "./describe-shape.ts";
import { type FollowNeeds, followSchemaChanges } from "./follow-schema-changes.ts";
import { type UpgradeNeeds, upgradeSchema } from "./upgrade-schema.ts";

export interface ProvisionNeeds extends Pick<FollowNeeds, "renew">, Pick<UpgradeNeeds, "refusals"> {
  /** Carries out what an import left open; false when there was no time to end it. */
  readonly rollForward: (workspaceId: string) => Promise<boolean>;
  readonly announcements: Pick<Events, "publish">;
  readonly mappings: Pick<Mappings, "find" | "listDeleted" | "setProvisioning">;
  readonly connections: Connections;
  /** The workspace's database for changes of its tables. */
  readonly provisioner: (
    workspaceId: string,
  ) => Promise<{ readonly provisioner: Provisioner; readonly schema: string }>;
  /** The high-water positions of a mapping begin again. */
  readonly restores: { accept(workspaceId: string, mappingId: string): Promise<void> };
  readonly schedules: Schedules;
  readonly ticks: Ticks;
  readonly queues: Pick<Queues, "cycles" | "loads" | "provisioning">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Carries out a change of configuration: the rest of an import first, then the mapping's table and triggers for its
 * current version, its schedule, its first beats and its first load. Repeatable from any point.
 */
export async function provisionMapping(needs: ProvisionNeeds, message: ProvisioningMessage): Promise<void> {
  const { workspace_id: workspaceId, mapping_id: mappingId } = message;
  // A mapping's own message is sent once its part of an import is carried out; only the import's ends what was left open.
  if (message.import_id !== null && !(await needs.rollForward(workspaceId))) {
    await needs.queues.provisioning.send([{ message, delaySeconds: 1 }]);
    return;
  }
  if (message.upgrade === true) return upgradeSchema(needs, workspaceId);
  if (mappingId === null) return;
  const mapping = await needs.mappings.find(workspaceId, mappingId);
  if (!mapping) return retire(needs, workspaceId, mappingId);
  if (!(await makeTable(needs, mapping, message.anew === true))) return;
  if (message.describe === true) return lookAfter(needs, mapping);
  if (mapping.active) return start(needs, mapping);
  await needs.schedules.remove(mapping.id);
  await drain(needs, workspaceId);
}

/** Once a day: what a newer version of the service has changed in the schema, then what Salesforce has in the object. */
async function lookAfter(needs: ProvisionNeeds, mapping: Mapping): Promise<void> {
  const { provisioner } = await needs.provisioner(mapping.workspaceId);
  await provisioner.migrate(mapping);
  const wider = migrationOf(mapping.provisioning);
  if (wider !== null && (await provisioner.propose([wider])).length === 0) await makeTable(needs, mapping, true);
  await followSchemaChanges(needs, mapping);
}

/** A deleted mapping's schedule goes, then its triggers; its table and rows stay. */
async function retire(needs: ProvisionNeeds, workspaceId: string, mappingId: string): Promise<void> {
  await needs.schedules.remove(mappingId);
  const deleted = await needs.mappings.listDeleted(workspaceId);
  const mapping = deleted.find(({ id }) => id === mappingId);
  if (!mapping) return;
  await drain(needs, workspaceId);
  await (await needs.provisioner(workspaceId)).provisioner.retire(mapping);
}

/** What the last cycle left to report has no later cycle to report it. */
async function drain(needs: ProvisionNeeds, workspaceId: string): Promise<void> {
  const store = await needs.connections.openStore(workspaceId);
  try {
    await emptyOutbox(needs, workspaceId, store);
  } finally {
    await store.close();
  }
}

/** False when the mapping cannot be provisioned as it is, or has changed again: then another message is on its way. */
async function makeTable(needs: ProvisionNeeds, mapping: Mapping, anew: boolean): Promise<boolean> {
  const isMade = mapping.provisioning.state === "ready" && mapping.provisioning.version === mapping.configVersion;
  if (isMade && !anew) return true;
  const version = mapping.configVersion;
  const { provisioning, fault } = await provision(needs, mapping);
  const waits = fault === null && provisioning.state === "pending";
  if (waits && isDeepStrictEqual(provisioning, mapping.provisioning)) return false; // said before
  const reason = failureOfProvisioning(provisioning);
  needs.log({
    level: provisioning.state === "ready" ? "info" : waits ? "warn" : "error",
    event: "provisioning",
    workspace_id: mapping.workspaceId,
    mapping_id: mapping.id,
    sf_object: mapping.sfObject,
    pg_table: mapping.pgTable,
    state: provisioning.state,
    version,
    ...(reason !== null && { reason }),
  });
  const kept = await needs.mappings.setProvisioning(mapping.workspaceId, mapping.id, version, provisioning);
  if (fault !== null) throw fault;
  return kept && provisioning.state === "ready";
}

interface Tried {
  readonly provisioning: Provisioning;
  /** What may pass on its own: the queue delivers the message again, and the minute sweep sends another one. */
  readonly fault: unknown;
}

async function provision(needs: ProvisionNeeds, mapping: Mapping): Promise<Tried> {
  const version = mapping.configVersion;
  try {
    const database = await needs.provisioner(mapping.workspaceId);
    const left = await waitsFor(database.provisioner, mapping);
    if (left !== null) return { provisioning: waiting(left), fault: null };
    const { salesforce } = await needs.connections.connectOrg(mapping.workspaceId, new AbortController().signal);
    const shape = await describeShape(salesforce, mapping, database.schema);
    const { narrow, isCaptured, isNew, migration } = await database.provisioner.provision(mapping, shape);
    if (isNew) await needs.restores.accept(mapping.workspaceId, mapping.id);
    if (!isCaptured) await again(needs, mapping);
    if (narrow.length > 0) reportNarrow(needs, mapping, narrow);
    await bookCalls(needs, { ...shape, workspaceId: mapping.workspaceId }, salesforce.calls());
    if (migration !== null && isAwaited(migration)) return { provisioning: waiting(migration), fault: null };
    return { provisioning: { state: "ready", version, ...(migration && { migration }) }, fault: null };
  } catch (error) {
    if (error instanceof Failure) {
      return { provisioning: { state: "failed", version, reason: error.message }, fault: null };
    }
    const reason = `${failureOf(error).message}; Bridge tries again every minute`;
    const migration = migrationOf(mapping.provisioning);
    return { provisioning: { state: "pending", reason, ...(migration && { migration }) }, fault: error };
  }
}

/** What a mapping waits for, by the catalog alone: the org is not asked each minute what it has said before. */
async function waitsFor(provisioner: Provisioner, { provisioning }: Mapping): Promise<Migration | null> {
  if (provisioning.state !== "pending" || provisioning.migration === undefined) return null;
  const [left] = await provisioner.propose([provisioning.migration]);
  if (left === undefined) return null;
  const { sql: _, ...migration } = left;
  return migration;
}

const waiting = (migration: Migration): Provisioning => ({
  state: "pending",
  reason: explainMigration(migration),
  migration,
});

async function again({ queues }: ProvisionNeeds, { workspaceId, id }: Mapping): Promise<void> {
  const message = { workspace_id: workspaceId, mapping_id: id, import_id: null, anew: true };
  await queues.provisioning.send([{ message }]);
}

/** The mapping continues; what no longer fits is kept in `_bridge_inbound_errors`, record by record. */
function reportNarrow({ log }: ProvisionNeeds, mapping: Mapping, narrow: Provisioned["narrow"]): void {
  log({
    level: "warn",
    event: "columns_stay_narrow",
    workspace_id: mapping.workspaceId,
    mapping_id: mapping.id,
    sf_object: mapping.sfObject,
    pg_table: mapping.pgTable,
    columns: narrow,
    message:
      "run the migration that bridge schema propose prints; without schema_changes: propose, drop what depends on these columns, deactivate the mapping and activate it again, then create that again",
  });
}

type Provisioned = Awaited<ReturnType<Provisioner["provision"]>>;

/** The schedule, and the beats before those of its first tick. */
async function start({ schedules, ticks, queues, clock }: ProvisionNeeds, mapping: Mapping): Promise<void> {
  const { workspaceId, id: mappingId } = mapping;
  await schedules.ensure({ workspaceId, mappingId });
  const to = { workspace_id: workspaceId, mapping_id: mappingId };
  await sendMissing({ cycles: queues.cycles, ticks, now: () => new Date(clock.now()) }, workspaceId, [mappingId]);
  if (pulls(mapping.syncDirection)) await queues.loads.send([{ message: { ...to, kind: "load" } }]);
}
