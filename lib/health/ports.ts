import type { Figures } from "../metrics/ports.ts";
import type { Budget, Usage } from "../model/calls/budget.ts";
import type { LearnedSize } from "../model/change/call-size.ts";
import type { CycleFailure, FailureReason } from "../model/engine.ts";
import type { SalesforceConnection } from "../model/workspace/workspace.ts";

/** How the cycles of one mapping have been ending, and its loads. */
export interface EngineReport {
  readonly mappingId: string;
  readonly broken: boolean;
  /** Why the last cycle, or else the last load, could not do its work; null: both could. */
  readonly failure: FailureReason | null;
  /** The same in words, with the remedy. */
  readonly message: string | null;
  /** The failure's own words and remedy. */
  readonly said: Pick<CycleFailure, "message" | "remedy"> | null;
  /** Since when each cycle has failed. */
  readonly failingSince: Date | null;
  readonly brokenSince: Date | null;
  /** When it is tried again; null: with the next beat. */
  readonly restUntil: Date | null;
  readonly callSize: LearnedSize | null;
  /** Since when nothing is sent because the database was restored; null: it was not. */
  readonly rewoundAt: Date | null;
}

/** The engine state of a workspace outside of the customer's database. */
export interface EngineReports {
  read(workspaceId: string): Promise<WorkspaceReport>;
  /** The same of every workspace that has one, by its id; reads the whole table, for operators. */
  readAll(): Promise<ReadonlyMap<string, KeptReport>>;
}

export interface KeptReport extends WorkspaceReport {
  /** What the minute sweep saw last; null: nothing yet. */
  readonly figures: Figures | null;
  /** Polls of a day that have no answer yet. */
  readonly openPolls: readonly { readonly mark: string; readonly mappingId: string; readonly askedAt: Date }[];
}

export interface WorkspaceReport {
  readonly mappings: readonly EngineReport[];
  /** The org's own count of its last 24 hours; null before the first answer. */
  readonly usage: Usage | null;
  /** How its calls are spent. */
  readonly budget: Budget;
  /** Why the last try to upgrade its schema failed; null: it did not. */
  readonly upgradeRefusal: string | null;
}

/** Whether the org answers at all, by a request that it does not count (`/services/data`). */
export interface OrgReach {
  isReachable(connection: SalesforceConnection): Promise<boolean>;
}
