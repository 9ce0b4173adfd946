import * as z from "zod/mini";
import type { ImportPlan, MappingChange } from "../../../config/ports.ts";
import type { Mapping } from "../../../model/mapping/mapping.ts";
import { toCamelCase, toSnakeCase } from "../../../model/snake-case.ts";
import { readChunks } from "../client/chunks.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { storedTime } from "../client/stored-time.ts";
import type { Write } from "../client/transact.ts";
import { readMapping, writeMapping } from "./mapping-item.ts";

/** Sort key of a workspace's head item, which orders all changes of its mappings. It sorts before the mappings'. */
export const HEAD = "head";

/**
 * Sort key of the item that sorts after the mappings' and holds the head's generation: equal at both ends of a reading,
 * it says that nothing changed while the mappings between were read.
 */
export const TAIL = "mapping~";

/** A workspace's head: its generation, and the import that is committed and not yet carried out. */
export interface Head {
  readonly generation: number;
  readonly plan: { readonly id: string; readonly chunks: number } | null;
}

const item = z.object({
  generation: z.number(),
  plan_id: z.optional(z.string()),
  plan_chunks: z.optional(z.number()),
});

/** A head as it is kept; a workspace without mappings has none. */
export function readHead(stored: unknown): Head {
  if (stored === undefined) return { generation: 0, plan: null };
  const { generation, plan_id, plan_chunks } = item.parse(stored);
  return {
    generation,
    plan: plan_id === undefined || plan_chunks === undefined ? null : { id: plan_id, chunks: plan_chunks },
  };
}

export async function getHead(database: Database, workspaceId: string): Promise<Head> {
  return readHead(await readItem(database, "mappings", { pk: workspaceId, sk: HEAD }));
}

/**
 * The two writes that claim the next generation for a change, if none was claimed since `seen` and no import is open
 * (the first one's condition); with `plan` they open one.
 */
export function nextGeneration(
  database: Database,
  workspaceId: string,
  seen: number,
  plan: Head["plan"],
): readonly [Write, Write] {
  const unchanged = seen === 0 ? "attribute_not_exists(pk)" : "generation = :seen";
  const update = {
    TableName: database.table("mappings"),
    Key: { pk: workspaceId, sk: HEAD },
    UpdateExpression: `SET generation = :next${plan ? ", plan_id = :plan, plan_chunks = :chunks" : ""}`,
    ConditionExpression: `${unchanged} AND attribute_not_exists(plan_id)`,
    ExpressionAttributeValues: {
      ":next": seen + 1,
      ...(seen === 0 ? {} : { ":seen": seen }),
      ...(plan ? { ":plan": plan.id, ":chunks": plan.chunks } : {}),
    },
  };
  return [{ Update: update }, tailPut(database, workspaceId, seen + 1)];
}

const tailPut = (database: Database, workspaceId: string, generation: number): Write => ({
  Put: { TableName: database.table("mappings"), Item: { pk: workspaceId, sk: TAIL, generation } },
});

/** Where a plan's chunks are. */
export const planPlace = (workspaceId: string, planId: string) =>
  ({ table: "mappings", pk: workspaceId, prefix: `plan#${planId}` }) as const;

const planDocument = z.object({
  id: z.string(),
  workspace_id: z.string(),
  actor: z.string(),
  at: storedTime,
  changes: z.array(z.object({ before: z.unknown(), after: z.unknown() })),
});

/** A plan as the document that is kept in chunks. */
export function writePlan(plan: ImportPlan): unknown {
  const changes = plan.changes.map(({ before, after }) => ({
    before: before && writeMapping(before),
    after: writeMapping(after),
  }));
  return toSnakeCase(planDocument, { ...plan, changes });
}

/** The open plan of a head; null when none is open, or when it was kept for so long that its chunks are gone. */
export async function readPlan(database: Database, workspaceId: string, head: Head): Promise<ImportPlan | null> {
  if (head.plan === null) return null;
  const document = await readChunks(database, planPlace(workspaceId, head.plan.id), head.plan.chunks);
  if (document === null) return null;
  const plan = toCamelCase(planDocument, planDocument.parse(document));
  return { ...plan, changes: plan.changes.map(readChange) };
}

function readChange({ before, after }: { readonly before: unknown; readonly after: unknown }): MappingChange {
  return { before: before === null ? null : readMapping(before), after: readMapping(after) };
}

/** A mapping as a plan will leave it, unless it has moved past the plan already. */
export function overlaid(kept: Mapping | null, change: MappingChange): Mapping {
  return kept !== null && kept.configVersion >= change.after.configVersion ? kept : change.after;
}
