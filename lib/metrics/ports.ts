import type { Mapping } from "../model/mapping/mapping.ts";
import type { MappingTotals } from "../model/totals.ts";

/** A workspace's rows in state NEW, as the last cycle or the minute sweep has counted them. */
export interface QueueDepth {
  readonly workspaceId: string;
  readonly rows: number;
}

/** Calls that belong to no mapping's totals, those of the API's own functions, by the label of their API. */
export interface OtherCalls {
  readonly workspaceId: string;
  readonly apiCalls: Readonly<Record<string, number>>;
}

/** What the metrics endpoint tells, kept by the cycles. */
export interface Counters {
  /** A new mapping's totals, all zero, so that its series are there before its first row. */
  begin(mapping: Mapping): Promise<void>;
  /**
   * Sets a mapping's totals if they are larger than those that are kept: told late or twice, they neither fall nor double.
   * Smaller ones, of a cycle that began at least a minute after the kept ones', count from a new beginning: the mapping
   * was deleted and restored, or the workspace has another database.
   */
  set(totals: MappingTotals, cycleBeganAt: Date): Promise<void>;
  setQueueDepth(depth: QueueDepth, countedAt: Date): Promise<void>;
  /** A workspace's rows in state NEW, as last kept, and when they were counted (null: never, or before times were kept). */
  queueDepth(workspaceId: string): Promise<{ readonly rows: number; readonly countedAt: Date | null }>;
  /** Adds calls that no cycle made. */
  addCalls(calls: OtherCalls): Promise<void>;
  /** Everything that is kept, of all workspaces. */
  readAll(): Promise<KeptCounters>;
}

export interface KeptCounters {
  readonly totals: readonly MappingTotals[];
  readonly depths: readonly QueueDepth[];
  readonly calls: readonly OtherCalls[];
}
