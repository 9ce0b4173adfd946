import type { PauseNeeds } from "../../lib/sync/beat/pauses.ts";
import { eventIdOf } from "../../lib/webhooks/derived-id.ts";
import { auditLog, counters, events, mappings, now, queue, workspaces } from "./composition.ts";

/** What it takes to pause a workspace, and to announce it. */
export const pauseServices = (): PauseNeeds => ({
  workspaces: workspaces(),
  mappings: mappings(),
  counters: counters(),
  audit: auditLog(),
  events: events(),
  eventIdOf,
  loads: queue("loads"),
  now,
});
