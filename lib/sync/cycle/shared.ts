import type { Shared } from "./cycle.ts";
import type { MessageNeeds } from "./cycle-ports.ts";

/** What the mappings of one workspace share, by the service's own stores and queues. */
export function sharedBy({ engine, mappings, queues }: MessageNeeds, workspaceId: string): Shared {
  return {
    claimProbe: (slot) => engine.claimProbe(workspaceId, slot),
    activeMappings: () => mappings.listActive(workspaceId),
    sendSweep: (mappingId) =>
      queues.loads.send([{ message: { workspace_id: workspaceId, mapping_id: mappingId, kind: "sweep" } }]),
    sendLoad: (mappingId) =>
      queues.loads.send([{ message: { workspace_id: workspaceId, mapping_id: mappingId, kind: "load" } }]),
    sendPulls: (mappingIds) =>
      queues.cycles.send(
        mappingIds.map((mappingId) => ({
          message: { workspace_id: workspaceId, mapping_id: mappingId, kind: "pull", slot: null },
        })),
      ),
  };
}
