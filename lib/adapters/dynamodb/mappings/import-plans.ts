import * as z from "zod/mini";
import type { ImportPlans, MappingChange, RecordedChanges } from "../../../config/ports.ts";
import { writeLine } from "../../../model/log-line.ts";
import { readItems } from "../client/batch.ts";
import { writeChunks } from "../client/chunks.ts";
import type { Database } from "../client/client.ts";
import { updateIf } from "../client/transact.ts";
import { commitIf } from "../commit.ts";
import { getHead, HEAD, nextGeneration, planPlace, readPlan, writePlan } from "./mapping-head.ts";
import { mappingKey } from "./mapping-item.ts";
import { writesOf } from "./mapping-writes.ts";

/** Chunks of a plan that was never committed, or is done, go after this many days; an open one is long done by then. */
const PLAN_DAYS = 30;

/** Import plans beside the mappings that they change. */
export function importPlans(database: Database): ImportPlans {
  return {
    commit: async (plan, generation, entry) => {
      const { workspaceId, id, at } = plan;
      const expiresAt = Math.floor(at.getTime() / 1000) + PLAN_DAYS * 86_400;
      const chunks = await writeChunks(database, planPlace(workspaceId, id), writePlan(plan), expiresAt);
      const writes = nextGeneration(database, workspaceId, generation, { id, chunks });
      return commitIf(database, { writes, audit: [entry], events: [] });
    },

    open: async (workspaceId) => {
      const head = await getHead(database, workspaceId);
      const plan = await readPlan(database, workspaceId, head);
      if (plan === null && head.plan) await reportLost(database, workspaceId, head.plan.id);
      return plan;
    },

    carryOut: async (planId, recorded) => {
      // When another process carries the same plan out at the same time, what is left is looked up again.
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const rest = await notYet(database, recorded);
        if (rest.changes.length === 0) return;
        const writes = rest.changes.flatMap((change) => writesOf(database, change));
        if (await commitIf(database, { writes, audit: rest.audit, events: rest.events })) return;
      }
      throw new Error(`import ${planId} cannot be carried out: its mappings are not as they were when it was planned`);
    },

    close: (workspaceId, planId) => close(database, workspaceId, planId),
  };
}

/** Readers saw the plan as if it was carried out, so nothing changes for them. */
async function close(database: Database, workspaceId: string, planId: string): Promise<void> {
  await updateIf(database, "mappings", {
    Key: { pk: workspaceId, sk: HEAD },
    UpdateExpression: "REMOVE plan_id, plan_chunks",
    ConditionExpression: "plan_id = :plan",
    ExpressionAttributeValues: { ":plan": planId },
  });
}

/** Of a plan whose chunks are gone, for it was open for `PLAN_DAYS`; it is in the way of no other. */
async function reportLost(database: Database, workspaceId: string, planId: string): Promise<void> {
  const message = `what was left of this import after ${PLAN_DAYS} days is lost; the mappings that it changed by then have audit entries of their own, the others are as they were: import again`;
  writeLine({ level: "error", event: "import_lost", workspace_id: workspaceId, import_id: planId, message });
  await close(database, workspaceId, planId);
}

const ATTEMPTS = 10;

const kept = z.object({ sk: z.string(), config_version: z.number() });

/** The changes that were not carried out yet, with what belongs to them. */
async function notYet(database: Database, recorded: RecordedChanges): Promise<RecordedChanges> {
  const keys = recorded.changes.map(({ after }) => ({ pk: after.workspaceId, sk: mappingKey(after.id) }));
  const items = (await readItems(database, "mappings", keys)).map((item) => kept.parse(item));
  const versions = new Map(items.map(({ sk, config_version }) => [sk, config_version]));
  const isOpen = ({ after }: MappingChange) => (versions.get(mappingKey(after.id)) ?? 0) < after.configVersion;
  const changes = recorded.changes.filter(isOpen);
  const ids = new Set(changes.map(({ after }) => after.id));
  return {
    changes,
    audit: recorded.audit.filter(({ resourceId }) => ids.has(resourceId)),
    events: recorded.events.filter(({ detail }) => ids.has(String(detail["mapping_id"]))),
  };
}
