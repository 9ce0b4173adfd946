import { newId } from "../model/id.ts";
import type { Baselines, Mappings } from "./ports.ts";

interface Needs {
  readonly mappings: Mappings;
  readonly baselines: Baselines;
}

/** Pins the workspace's configuration as it stands now (spec 4.1.8). */
export async function saveBaseline(
  { mappings, baselines }: Needs,
  { workspaceId, actor, at }: { readonly workspaceId: string; readonly actor: string; readonly at: Date },
): Promise<{ readonly baseline_id: string; readonly captured_at: string }> {
  const listing = await mappings.list(workspaceId);
  const baseline = { id: newId("bl"), workspaceId, capturedAt: at, mappings: listing.mappings };
  await baselines.save(baseline, {
    id: newId("aud"),
    workspaceId,
    actor,
    action: "config.baseline_saved",
    resourceId: baseline.id,
    detail: { mappings: listing.mappings.length },
    createdAt: at,
  });
  return { baseline_id: baseline.id, captured_at: at.toISOString() };
}
