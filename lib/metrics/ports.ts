import * as z from "zod/mini";
import type { HourOfTotals } from "../model/calls/account.ts";
import type { HighWater } from "../model/high-water.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import type { MappingTotals } from "../model/totals.ts";

/** A workspace's rows in state NEW, as the last cycle or the minute sweep has counted them. */
export interface QueueDepth {
  readonly workspaceId: string;
  readonly rows: number;
  /** When the oldest of them that is not held was captured; null: none is there, or an older version counted. */
  readonly oldestAt?: Date | null;
}

/** The same as it is kept. */
export interface KeptDepth extends QueueDepth {
  /** Null: never, or before times were kept. */
  readonly countedAt: Date | null;
}

/** Calls that belong to no mapping's totals, those of the API's own functions, by the label of their API. */
export interface OtherCalls {
  readonly workspaceId: string;
  readonly apiCalls: Readonly<Record<string, number>>;
}

const figure = z.nullable(z.number());

/** What the minute sweep has seen of a mapping; times are epoch milliseconds. */
const mappingFigures = z.object({
  id: z.string(),
  object: z.string(),
  /** A doorbell is to wake its pulls; left out: by versions before this one. */
  rings: z.optional(z.boolean()),
  /** Changes that wait and are not held, up to 100,000, and when the oldest of them was captured; null: none waits. */
  waiting: z.number(),
  oldestAt: figure,
  heldDeletes: z.number(),
  /** A cycle held its lease; left out: by versions before this one. */
  running: z.optional(z.boolean()),
  /** Something of it does not move; left out: by versions before this one. */
  stalled: z.optional(z.boolean()),
  inboundErrors: z.number(),
  /** Conflicts of the last 24 hours. */
  conflicts: z.number(),
  /** When its last cycle ended; null: none has yet. */
  lastCycleAt: figure,
  /** Rows that pulls changed in the last ten minutes. */
  pulled: z.number(),
  /** Seconds from capture to Salesforce's word, of the latest 200 changes of ten minutes; null: there was none. */
  lagP50: figure,
  lagP95: figure,
});
export type MappingFigures = z.infer<typeof mappingFigures>;

/** What the minute sweep has seen of a workspace. */
export const figures = z.object({
  /** Its active mappings; undefined: its database has not been asked yet. */
  mappings: z.optional(z.readonly(z.array(mappingFigures))),
  /** Its active webhooks, and whether the last attempt failed. */
  webhooks: z.array(
    z.object({
      id: z.string(),
      isFailing: z.boolean(),
      /** Deliveries of the last hour, the latest 500, by their outcome so far; undefined: an older version looked. */
      deliveries: z.optional(z.object({ successful: z.number(), failed: z.number(), pending: z.number() })),
    }),
  ),
});
export type Figures = z.infer<typeof figures>;

/** Keeps what the minute sweep sees. */
export interface KeepFigures {
  /** Mappings that are left out stay as they were seen last. */
  set(workspaceId: string, figures: Figures): Promise<void>;
}

/** The values of the metrics endpoint, stored by the cycles. */
export interface Counters {
  /** A new mapping's totals, all zero, so that its series are there before its first row. */
  begin(mapping: Mapping): Promise<void>;
  /**
   * Sets a mapping's totals if they are larger than those that are kept: stored late or twice, they neither fall nor
   * double. Smaller ones, of a cycle that began at least a minute after the kept ones', count from a new beginning: the
   * mapping was deleted and restored, or the workspace has another database. With them how far the database was, newest
   * first; left out, what is kept of that stays.
   */
  set(totals: MappingTotals, cycleBeganAt: Date, reached?: readonly HighWater[]): Promise<void>;
  /** The totals of each mapping of a workspace at the last report of each of the last hours. */
  hours(workspaceId: string): Promise<readonly MappingHours[]>;
  setQueueDepth(depth: QueueDepth, countedAt: Date): Promise<void>;
  /** A workspace's rows in state NEW, as last kept, and when they were counted (null: never, or before times were kept). */
  queueDepth(workspaceId: string): Promise<{ readonly rows: number; readonly countedAt: Date | null }>;
  /** Keeps that a workspace's pause of this time, or its end (null), was announced. */
  setPaused(workspaceId: string, since: Date | null): Promise<void>;
  /** Since when a workspace is paused, as it was announced; null: it is not. */
  pausedSince(workspaceId: string): Promise<Date | null>;
  /** Adds calls that no cycle made. */
  addCalls(calls: OtherCalls): Promise<void>;
  /** Everything that is kept, of all workspaces. */
  readAll(): Promise<KeptCounters>;
}

/** The text of the metrics endpoint as a process last wrote it, and of how many mappings it is. */
export interface MetricsPage {
  readonly text: string;
  readonly at: Date;
  readonly mappings: number;
}

export interface MetricsPages {
  read(): Promise<MetricsPage | null>;
  /** Whether this process is to write the next page; others that ask within the same seconds are not. */
  claim(at: Date): Promise<boolean>;
  /** A newer page that is kept stays. */
  keep(page: MetricsPage): Promise<void>;
}

export interface MappingHours {
  readonly mappingId: string;
  readonly sfObject: string;
  readonly hours: readonly HourOfTotals[];
}

export interface KeptCounters {
  readonly totals: readonly MappingTotals[];
  readonly depths: readonly KeptDepth[];
  readonly calls: readonly OtherCalls[];
  /** Of workspaces that were ever paused: since when, as it was announced; null: they are not. */
  readonly pauses: readonly { readonly workspaceId: string; readonly since: Date | null }[];
}
