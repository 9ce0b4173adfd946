import * as z from "zod/mini";
import type { Workspaces } from "../../access/ports.ts";
import type { Mappings } from "../../config/ports.ts";
import type { EngineReports, WorkspaceReport } from "../../health/ports.ts";
import type { Counters } from "../../metrics/ports.ts";
import { DEPLOYMENT, pauseOf } from "../../model/workspace/pause.ts";
import { nullableTimestamp } from "../shapes.ts";
import { viewWorkspace, workspaceView } from "./workspace.ts";

/** A workspace as operators see it among all others; a figure is null until it is counted. */
export const fleetRow = z.extend(workspaceView, {
  waiting: z.nullable(z.int()),
  oldest_waiting_at: nullableTimestamp(),
  counted_at: nullableTimestamp(),
  rows_refused: z.int(),
  calls_used: z.nullable(z.int()),
  calls_limit: z.nullable(z.int()),
  calls_at: nullableTimestamp(),
  broken: z.array(z.object({ mapping_id: z.string(), since: nullableTimestamp(), reason: z.nullable(z.string()) })),
});

interface Needs {
  readonly workspaces: Pick<Workspaces, "list" | "find">;
  readonly counters: Pick<Counters, "readAll">;
  readonly engine: Pick<EngineReports, "readAll">;
  readonly mappings: Pick<Mappings, "list">;
}

/** Every workspace, by name, from what cycles have kept: three readings, and the mappings of those with a broken one. */
export async function readFleet(needs: Needs): Promise<readonly z.infer<typeof fleetRow>[]> {
  const { workspaces, counters, engine } = needs;
  const [all, deployment] = await Promise.all([workspaces.list(), workspaces.find(DEPLOYMENT)]);
  const [{ totals, depths }, reports] = await Promise.all([counters.readAll(), engine.readAll()]);
  const depthOf = new Map(depths.map((depth) => [depth.workspaceId, depth]));
  const totalsOf = Map.groupBy(totals, ({ workspaceId }) => workspaceId);
  const rows = all.map(async (workspace) => {
    const [depth, report] = [depthOf.get(workspace.id), reports.get(workspace.id)];
    return {
      ...viewWorkspace(workspace, pauseOf(workspace.pauseSwitch, deployment?.pauseSwitch ?? null)),
      waiting: depth?.rows ?? null,
      oldest_waiting_at: iso(depth?.oldestAt),
      counted_at: iso(depth?.countedAt),
      rows_refused: (totalsOf.get(workspace.id) ?? []).reduce((sum, { rowsFailed }) => sum + rowsFailed, 0),
      calls_used: report?.usage?.used ?? null,
      calls_limit: report?.usage?.limit ?? null,
      calls_at: iso(report?.usage?.at),
      broken: await brokenOf(needs.mappings, workspace.id, report),
    };
  });
  return Promise.all(rows);
}

const iso = (at: Date | null | undefined) => at?.toISOString() ?? null;

/** A mapping's figures outlive its deactivation. */
async function brokenOf(mappings: Needs["mappings"], workspaceId: string, report: WorkspaceReport | undefined) {
  const broken = report?.mappings.filter((mapping) => mapping.broken) ?? [];
  if (broken.length === 0) return [];
  const active = new Set((await mappings.list(workspaceId)).mappings.flatMap(({ id, active }) => (active ? [id] : [])));
  return broken
    .filter(({ mappingId }) => active.has(mappingId))
    .map(({ mappingId, brokenSince, message }) => ({
      mapping_id: mappingId,
      since: iso(brokenSince),
      reason: message,
    }));
}
