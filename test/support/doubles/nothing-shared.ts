import type { Shared } from "../../../lib/sync/cycle/cycle.ts";

/** What mappings share, of one that shares nothing and leaves probes to others. */
export const NOTHING_SHARED: Shared = {
  claimProbe: async () => false,
  isPaused: async () => false,
  activeMappings: async () => [],
  sendSweep: async () => undefined,
  sendLoad: async () => undefined,
  wakeAt: async () => undefined,
  sendPulls: async () => undefined,
};
