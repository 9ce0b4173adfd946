import type { MessageNeeds } from "../ports/cycle-ports.ts";
import type { Shared } from "./cycle.ts";
import { wake } from "./wake.ts";

/** What the mappings of one workspace share, by the service's own stores and queues. */
export function sharedBy({ engine, mappings, pauses, queues, clock }: MessageNeeds, workspaceId: string): Shared {
  return {
    claimProbe: (slot) => engine.claimProbe(workspaceId, slot),
    isPaused: async () => (await pauses.find(workspaceId)) !== null,
    activeMappings: () => mappings.listActive(workspaceId),
    sendSweep: (mappingId) =>
      queues.loads.send([{ message: { workspace_id: workspaceId, mapping_id: mappingId, kind: "sweep" } }]),
    sendLoad: (mappingId) =>
      queues.loads.send([{ message: { workspace_id: workspaceId, mapping_id: mappingId, kind: "load" } }]),
    wakeAt: (mappingId, at) =>
      wake({ times: engine, cycles: queues.cycles }, [{ id: mappingId, workspaceId }], "pull", {
        at: at.getTime(),
        now: clock.now(),
      }),
    sendPulls: (mappingIds) =>
      queues.cycles.send(
        mappingIds.map((mappingId) => ({
          message: { workspace_id: workspaceId, mapping_id: mappingId, kind: "pull", slot: null },
        })),
      ),
  };
}
