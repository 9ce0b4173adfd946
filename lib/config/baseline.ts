import { newId } from "../model/id.ts";
import { auditEntry, type Doing } from "../model/workspace/audit.ts";
import type { Baselines, Mappings } from "./ports.ts";

interface Needs {
  readonly mappings: Mappings;
  readonly baselines: Baselines;
}

/** Pins the workspace's configuration as it is now (contract 4.1.8). */
export async function saveBaseline(
  { mappings, baselines }: Needs,
  by: Doing,
): Promise<{ readonly baseline_id: string; readonly captured_at: string }> {
  const { workspaceId, at } = by;
  const listing = await mappings.list(workspaceId);
  const baseline = { id: newId("bl"), workspaceId, capturedAt: at, mappings: listing.mappings };
  const detail = { mappings: listing.mappings.length };
  await baselines.save(baseline, auditEntry(by, "config.baseline_saved", baseline.id, detail));
  return { baseline_id: baseline.id, captured_at: at.toISOString() };
}
