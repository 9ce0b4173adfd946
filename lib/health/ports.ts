import type { Usage } from "../model/budget.ts";
import type { LearnedSize } from "../model/change/call-size.ts";
import type { FailureReason } from "../model/engine.ts";
import type { SalesforceConnection } from "../model/workspace/workspace.ts";

/** How the cycles of one mapping have been ending, and its loads. */
export interface EngineReport {
  readonly mappingId: string;
  readonly broken: boolean;
  /** Why the last cycle, or else the last load, could not do its work; null: both could. */
  readonly failure: FailureReason | null;
  /** The same in words, with the remedy. */
  readonly message: string | null;
  readonly brokenSince: Date | null;
  readonly callSize: LearnedSize | null;
}

/** What the engine remembers of a workspace outside of the customer's database. */
export interface EngineReports {
  read(workspaceId: string): Promise<{
    readonly mappings: readonly EngineReport[];
    /** The org's own count of its last 24 hours; null before the first answer. */
    readonly usage: Usage | null;
    /** How far the engine has stepped back from the org's calls. */
    readonly budgetStep: number;
    /** When it did so; null: not known. */
    readonly budgetSince: Date | null;
  }>;
}

/** Whether the org answers at all, by a request that it does not count (`/services/data`). */
export interface OrgReach {
  isReachable(connection: SalesforceConnection): Promise<boolean>;
}
