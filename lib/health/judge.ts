import type { FailureReason } from "../model/engine.ts";
import type { EngineReport } from "./ports.ts";

/** The health of one side (contract 2.3, 3.2). */
export type Health = "healthy" | "degraded" | "error" | "unknown";

/** A trip to the database that takes longer makes it degraded. */
const SLOW_MILLISECONDS = 500;

/** The share of the org's daily calls from which on it is degraded. */
const MUCH_USED = 0.7;

/** What a check of the database gave; `failedTries` before the one that ended it. */
export type DatabaseCheck =
  | { readonly answered: true; readonly latencyMilliseconds: number; readonly failedTries: number }
  | { readonly answered: false };

export function databaseHealth(check: DatabaseCheck | null): Health {
  if (check === null) return "unknown";
  if (!check.answered) return "error";
  return check.latencyMilliseconds >= SLOW_MILLISECONDS || check.failedTries > 0 ? "degraded" : "healthy";
}

interface OrgSigns {
  /** A session was had at least once. */
  readonly everConnected: boolean;
  readonly reachable: boolean;
  readonly reports: readonly Pick<EngineReport, "mappingId" | "broken" | "failure">[];
  readonly usage: { readonly used: number; readonly limit: number } | null;
}

export function orgHealth({ everConnected, reachable, reports, usage }: OrgSigns): Health {
  const failed = (...reasons: readonly FailureReason[]) =>
    reports.some(({ failure }) => failure !== null && reasons.includes(failure));
  if (failed("salesforce_authorization", "salesforce_limit", "api_disabled")) return "error";
  const share = usage === null || usage.limit === 0 ? 0 : usage.used / usage.limit;
  if (share >= 1) return "error";
  if (!everConnected) return "unknown";
  return !reachable || failed("salesforce_unavailable", "org_read_only", "org_storage_full") || share >= MUCH_USED
    ? "degraded"
    : "healthy";
}

interface SyncSigns {
  /** Something of an active mapping does not move. */
  readonly stalled: boolean;
  readonly connected: boolean;
  /** A person has stopped it. */
  readonly paused: boolean;
  readonly activeMappings: number;
  /** Those of the active mappings. */
  readonly reports: readonly Pick<EngineReport, "mappingId" | "broken" | "failure">[];
}

/** `running` means enabled, also while it is idle, and that all of it moves. */
export function syncStatus({ stalled, connected, paused, activeMappings, reports }: SyncSigns) {
  if (!connected) return "unknown";
  if (paused || activeMappings === 0) return "paused";
  if (reports.some(({ broken }) => broken)) return "broken";
  return stalled ? "degraded" : "running";
}
