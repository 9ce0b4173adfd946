import type { Pauses } from "../../access/ports.ts";
import type { Mappings } from "../../config/ports.ts";
import type { Counters } from "../../metrics/ports.ts";
import type { Budget, PlannedBudget } from "../../model/calls/budget.ts";
import type { Event } from "../../model/delivery/event.ts";
import type { EngineState, PollOutcome } from "../../model/engine.ts";
import type { HighWater } from "../../model/high-water.ts";
import type { DescribedObject } from "../../model/mapping/describe.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { Queues } from "../../model/messages.ts";
import type { Events } from "../../webhooks/ports.ts";
import type { DoubtStore, RewoundStore } from "./doubt-ports.ts";
import type { LeaseStore } from "./lease-ports.ts";
import type { BulkQueries } from "./load-ports.ts";
import type { DryRuns, PullStore, Queries } from "./pull-ports.ts";
import type { BulkSaves, PushStore, Saves } from "./push-ports.ts";
import type { SweepStore } from "./sweep-ports.ts";
import type { WakeUpTimes } from "./wake-ports.ts";

/** Time as the sync room sees it, so that tests can move it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs something at an epoch millisecond; the answer takes it back. */
  at(epochMilliseconds: number, run: () => unknown): () => void;
}

/**
 * One mapping's side of the customer's database, for the time of one cycle; it has a connection for the time of each
 * query. Every wait ends within the deadline of 15 s. What needs a lease throws `LeaseLost` when it is gone; `settle`
 * alone still stores results after a change of configuration, because Salesforce has done those writes.
 */
export interface CycleStore extends LeaseStore, DoubtStore, RewoundStore, PushStore, PullStore, SweepStore, DryRuns {}

/** The connected org. Every HTTP request is counted once under its label; refusals are thrown as `SalesforceRefusal`. */
export interface Salesforce extends Queries, BulkQueries, Saves, BulkSaves {
  /** The object's description (describeSObject), as Salesforce gives it. */
  describe(object: string): Promise<DescribedObject>;
  /** Counted calls by label since this client was created. */
  calls(): Readonly<Record<string, number>>;
  /** The org's own count of the last 24 hours, as of the last answer; null before the first. */
  usage(): { readonly used: number; readonly limit: number } | null;
}

/* The service's own side of a cycle: configuration, stored state, and where reports go. */

/** Mappings as cycles read them. */
export interface CycleMappings extends Pick<Mappings, "find"> {
  /** The active mappings of a workspace. */
  listActive(workspaceId: string): Promise<readonly Mapping[]>;
}

export interface Connections {
  /** The workspace's database, for one cycle. */
  openStore(workspaceId: string): Promise<CycleStore>;
  /** The workspace's org, for one cycle; `signal` breaks off reads. */
  connectOrg(workspaceId: string, signal: AbortSignal): Promise<ConnectedOrg>;
}

export interface ConnectedOrg {
  readonly salesforce: Salesforce;
  /** Ids of the Salesforce users as whom we write (the first) and wrote earlier. */
  readonly writers: () => Promise<readonly string[]>;
}

/** A mapping's engine state, and the version by which `save` knows that it was not written in between. */
export interface KeptEngine {
  readonly state: EngineState;
  readonly version: number;
}

/** What the engine knows about a mapping and its org before a cycle begins. */
export interface StoredEnds {
  readonly engine: KeptEngine;
  readonly budget: Budget;
}

/** The engine's state between cycles outside of the customer's database, which may be down. */
export interface EngineMemory extends WakeUpTimes {
  read(workspaceId: string, mappingId: string): Promise<StoredEnds>;
  /** Writes the state and its edge's events if it is still the version that was read; false when it is not. */
  save(
    workspaceId: string,
    mappingId: string,
    before: KeptEngine,
    after: EngineState,
    events: readonly Event[],
  ): Promise<boolean>;
  /** Keeps the latest plan; an older one than the kept changes nothing. Gives what it kept where the pace is another one now. */
  saveBudget(workspaceId: string, make: () => Promise<PlannedBudget>): Promise<PlannedBudget | null>;
  /** True for the first who claims the workspace's probe of this slot (epoch seconds) or a later one. */
  claimProbe(workspaceId: string, slot: number): Promise<boolean>;
  /** Notes that a change was found which no ring of the mapping had announced. */
  noteMissed(workspaceId: string, mappingId: string, at: Date): Promise<void>;
  /** How far a mapping's database was, as its counters were written, newest first. */
  highWater(workspaceId: string, mappingId: string): Promise<readonly HighWater[]>;
  /** Stores a poll's result, for the caller that waits for it. */
  endPoll(workspaceId: string, mark: string, outcome: PollOutcome): Promise<void>;
}

/** One line of the log; never values of rows, never a token. */
export type Log = (line: Readonly<Record<string, unknown>>) => void;

/** What a cycle saw that the operator's alarms watch. Of no mapping by name: a metric for each would cost dearly. */
export interface Figures {
  /** Changes that Salesforce has accepted and refused. */
  readonly accepted: number;
  readonly refused: number;
  /** Age of the workspace's oldest change that can be claimed; 0 when there is none, null when that is unknown. */
  readonly oldestWaitingSeconds: number | null;
  /** Share of the org's daily calls that are used, 0 to 1; null when no answer had it. */
  readonly budgetShare: number | null;
  /** Deletes that the breaker holds. */
  readonly heldDeletes: number;
  /** The cycle did not begin, or an engine-level error ended it. */
  readonly failed: boolean;
}

export interface MessageNeeds {
  readonly mappings: CycleMappings;
  readonly connections: Connections;
  readonly pauses: Pauses;
  readonly engine: EngineMemory;
  readonly counters: Pick<Counters, "set" | "setQueueDepth" | "hours">;
  readonly announcements: Events;
  readonly queues: Pick<Queues, "cycles" | "loads">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Receives what each cycle saw. */
  readonly figures: (figures: Figures) => void;
}
