import { setTimeout as after } from "node:timers";
import type { Shared } from "../../../../lib/sync/cycle/cycle.ts";
import type { Clock } from "../../../../lib/sync/ports/cycle-ports.ts";

/** A mapping that shares nothing with any other. */
export const ALONE: Shared = {
  claimProbe: async () => true,
  isPaused: async () => false,
  activeMappings: async () => [],
  sendSweep: async () => undefined,
  sendLoad: async () => undefined,
  wakeAt: async () => undefined,
  sendPulls: async () => undefined,
};

/** The machine's time. */
export const CLOCK: Clock = {
  now: () => Date.now(),
  at: (epochMilliseconds, run) => {
    const timer = after(run, Math.max(0, epochMilliseconds - Date.now()));
    return () => clearTimeout(timer);
  },
};
