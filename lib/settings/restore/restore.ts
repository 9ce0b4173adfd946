import * as z from "zod/mini";
import type { Acting, Pauses, SealedWorkspace, Tokens } from "../../access/ports.ts";
import { type ChangeNeeds, changeMapping } from "../../config/change-mapping.ts";
import type { Mappings } from "../../config/ports.ts";
import { nextVersion } from "../../config/version.ts";
import type { EngineReport, EngineReports } from "../../health/ports.ts";
import { DECISIONS, GROUPS, type Group } from "../../model/change/rewound.ts";
import { Failure } from "../../model/failure.ts";
import { type Mapping, pushes } from "../../model/mapping/mapping.ts";
import { toSnakeCase } from "../../model/snake-case.ts";
import { auditEntry } from "../../model/workspace/audit.ts";
import { reportPause } from "../../model/workspace/pause.ts";
import { withDatabase } from "../../monitoring/with-database.ts";
import type { Webhooks } from "../../webhooks/ports.ts";
import { noteMapping, type OnMapping, type Needs as RowNeeds } from "../change-rows.ts";
import { body, nullableTimestamp, timestamp } from "../shapes.ts";
import { type Decided, type RestoredMapping, type Restores, restoredGroup } from "./restore-ports.ts";

/** `restored_copy`: the database is older than what was sent; `config_behind`: DynamoDB is older than the database. */
const RESTORE_STATES = ["in_step", "restored_copy", "config_behind"] as const;

const token = z.object({
  id: z.string(),
  name: z.string(),
  owner: z.string(),
  created_at: timestamp(),
  last_used_at: nullableTimestamp(),
});
const webhook = z.object({ id: z.string(), description: z.string(), active: z.boolean(), created_at: timestamp() });

/** What waits for a person after a restore. */
export const restorePlan = z.object({
  /** The pause that the workspace is in, perhaps as it was at the time of the backup; null: none. */
  pause: z.nullable(z.string()),
  /** Tokens and webhooks as DynamoDB has them: what was ended after a time that it was restored to is back. */
  tokens: z.array(token),
  webhooks: z.array(webhook),
  mappings: z.array(
    z.object({
      mapping_id: z.string(),
      sf_object: z.string(),
      pg_table: z.string(),
      state: z.enum(RESTORE_STATES),
      since: nullableTimestamp(),
      groups: z.array(z.extend(restoredGroup, { means: z.string(), decision: z.enum([...DECISIONS, "leave"]) })),
      /** What the database's configuration says otherwise, where it is the later one. */
      changed_since: z.array(z.object({ setting: z.string(), database: z.string(), here: z.string() })),
    }),
  ),
});

const decision = () => z.enum([...DECISIONS, "leave"], { error: "must be salesforce, ours or leave" });

/** A person's decisions; what is left out goes by the plan. */
export const restoreDecisions = body({
  newer: z.optional(decision()),
  only_here: z.optional(z.enum(["ours", "leave"], { error: "must be ours or leave: Salesforce has no such change" })),
  proposed: z.optional(decision()),
  unclear: z.optional(decision()),
  rows: z.optional(
    z.array(body({ record_id: z.int({ error: "must be the key of a row, a whole number" }), decision: decision() }), {
      error: "must be a list of rows",
    }),
  ),
});

interface Needs extends RowNeeds {
  readonly engine: EngineReports;
  readonly restores: Restores;
}

/** Each mapping's state after a restore, and what waits of it. */
export async function readRestorePlan(
  needs: Pick<Needs, "engine" | "rowQueries"> & {
    readonly mappings: Pick<Mappings, "list">;
    readonly pauses: Pauses;
    readonly tokens: Pick<Tokens, "list">;
    readonly webhooks: Pick<Webhooks, "list">;
  },
  workspace: SealedWorkspace,
): Promise<z.infer<typeof restorePlan>> {
  const [{ mappings }, engine, pause, tokens, webhooks, found] = await Promise.all([
    needs.mappings.list(workspace.id),
    needs.engine.read(workspace.id),
    needs.pauses.find(workspace.id),
    needs.tokens.list(workspace.id),
    needs.webhooks.list(workspace.id),
    withDatabase(needs.rowQueries, workspace, (queries) => queries.restored()),
  ]);
  return {
    pause: pause && reportPause(pause),
    tokens: tokens.filter(({ revokedAt }) => revokedAt === null).map((one) => toSnakeCase(token, one)),
    webhooks: webhooks.map((one) => toSnakeCase(webhook, one)),
    mappings: mappings.map((mapping) => {
      const report = engine.mappings.find(({ mappingId }) => mappingId === mapping.id);
      const own = found.find(({ mappingId }) => mappingId === mapping.id);
      const isBehind = own !== undefined && own.version > mapping.configVersion;
      return {
        ...{ mapping_id: mapping.id, sf_object: mapping.sfObject, pg_table: mapping.pgTable },
        state: isBehind ? "config_behind" : stateOf(report),
        since: report?.rewoundAt?.toISOString() ?? null,
        groups: (own?.groups ?? []).map((group) => ({ ...toSnakeCase(restoredGroup, group), ...knownOf(group.group) })),
        changed_since: isBehind ? differences(mapping, own) : [],
      };
    }),
  };
}

const stateOf = (report: EngineReport | undefined) => (report?.rewoundAt ? "restored_copy" : "in_step");

const isGroup = (name: string | null): name is Group => name !== null && name in GROUPS;

function knownOf(name: string | null) {
  if (!isGroup(name)) return { means: "it is looked up by the next cycle", decision: "leave" } as const;
  return { means: GROUPS[name].means, decision: GROUPS[name].by ?? "leave" } as const;
}

function differences(mapping: Mapping, { shape }: RestoredMapping) {
  const settings = [
    [
      "fields",
      shape.columns
        .map(({ field }) => field)
        .toSorted()
        .join(", "),
      mapping.fields.toSorted().join(", "),
    ],
    ["sync_direction", shape.direction, mapping.syncDirection],
    ["conflict_policy", shape.conflictPolicy, mapping.conflictPolicy],
    ["upsert_field", shape.upsertField ?? "", mapping.upsertField ?? ""],
    ["filter", shape.filter ?? "", mapping.filter ?? ""],
  ] as const;
  return settings.flatMap(([setting, database, here]) => (database === here ? [] : [{ setting, database, here }]));
}

/** Holds everything that waits: the operator knows of a restore that nothing shows, of both sides to one time. */
export async function beginRestore(
  needs: Pick<Needs, "audit" | "restores"> & { readonly mappings: Pick<Mappings, "list"> },
  { workspace, actor, at }: Acting,
): Promise<readonly string[]> {
  const { mappings } = await needs.mappings.list(workspace.id);
  const ids = mappings.filter(({ syncDirection }) => pushes(syncDirection)).map(({ id }) => id);
  await needs.audit.append(
    auditEntry({ workspaceId: workspace.id, actor, at }, "workspace.restore_begun", workspace.id, {}),
  );
  await needs.restores.begin(workspace.id, ids, at);
  return ids;
}

/** Decides what waits, and has the mapping send again; its configuration becomes later than all that the database has seen. */
export async function acceptRestore(
  needs: Needs & { readonly change: ChangeNeeds },
  who: OnMapping,
  { rows = [], ...groups }: z.infer<typeof restoreDecisions>,
): Promise<{ readonly decided: number }> {
  const { workspace, mapping } = who;
  const report = (await needs.engine.read(workspace.id)).mappings.find(({ mappingId }) => mappingId === mapping.id);
  return withDatabase(needs.rowQueries, workspace, async (queries) => {
    const own = (await queries.restored()).find(({ mappingId }) => mappingId === mapping.id);
    const isUnseen = report?.rewoundAt && report.failure !== "database_rewound";
    if (isUnseen || own?.groups.some(({ group }) => group === null))
      throw new Failure("CONFLICT", `${mapping.sfObject} is not looked up yet: ask again in a minute`);
    await noteMapping(needs, who, "mapping.restore_accepted", { ...groups, rows: rows.length });
    const ofRows = rows.map((row): Asked => ({ recordId: row.record_id, group: null, decision: row.decision }));
    const ofGroups = (Object.keys(GROUPS) as Group[]).map(
      (group): Asked => ({ recordId: null, group, decision: groups[group] ?? GROUPS[group].by ?? "leave" }),
    );
    // A row's own decision comes first, also the one to leave it.
    const left = new Set(rows.flatMap(({ record_id, decision }) => (decision === "leave" ? [record_id] : [])));
    const first = await queries.decide(mapping.id, ofRows.filter(isDecided), []);
    const decided = first + (await queries.decide(mapping.id, ofGroups.filter(isDecided), [...left]));
    if (own && own.version > mapping.configVersion) await raiseVersion(needs.change, who, own.version);
    await needs.restores.accept(workspace.id, mapping.id);
    return { decided };
  });
}

async function raiseVersion(change: ChangeNeeds, { mapping, actor, at }: OnMapping, seen: number): Promise<void> {
  await changeMapping(change, { workspaceId: mapping.workspaceId, actor, at }, async (existing) => {
    const before = existing.find(({ id }) => id === mapping.id) ?? mapping;
    return { before, after: { ...nextVersion(before, at), configVersion: Math.max(before.configVersion, seen) + 1 } };
  });
}

type Asked = Omit<Decided, "decision"> & { readonly decision: Decided["decision"] | "leave" };

const isDecided = (asked: Asked): asked is Decided => asked.decision !== "leave";
