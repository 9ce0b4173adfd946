import type { Mappings } from "../../config/ports.ts";
import type { Counters } from "../../metrics/ports.ts";
import type { Budget, Usage } from "../../model/budget.ts";
import type { Event } from "../../model/delivery/event.ts";
import type { EngineState } from "../../model/engine.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { Queues } from "../../model/messages.ts";
import type { Events } from "../../webhooks/ports.ts";
import type { Figures } from "../report/figures.ts";
import type { Clock } from "./clock.ts";
import type { CycleStore, Salesforce } from "./cycle-ports.ts";

/** The service's own side of a cycle: what is configured, what is remembered, whom to tell. */

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

/** A mapping's engine state, and the mark by which `save` knows that nobody wrote in between. */
export interface KeptEngine {
  readonly state: EngineState;
  readonly mark: number;
}

/** What the engine knows about a mapping and its org before a cycle begins. */
export interface Remembered {
  readonly engine: KeptEngine;
  readonly budget: Budget;
}

/** What the engine remembers between cycles outside of the customer's database, which may be down. */
export interface EngineMemory {
  read(workspaceId: string, mappingId: string): Promise<Remembered>;
  /** Writes the state where the one that was read still stands, and its edge's events with it; false when it does not. */
  save(
    workspaceId: string,
    mappingId: string,
    before: KeptEngine,
    after: EngineState,
    events: readonly Event[],
  ): Promise<boolean>;
  /** Keeps the org's latest count; an older one than the kept changes nothing. Says whether the step is another one now. */
  saveBudget(workspaceId: string, budget: Budget & { readonly usage: Usage }): Promise<boolean>;
  /** True for the first who claims the workspace's probe of this slot (epoch seconds) or a later one. */
  claimProbe(workspaceId: string, slot: number): Promise<boolean>;
}

/** One line of the log; never values of rows, never a token. */
export type Log = (line: Readonly<Record<string, unknown>>) => void;

export interface MessageNeeds {
  readonly mappings: CycleMappings;
  readonly connections: Connections;
  readonly engine: EngineMemory;
  readonly counters: Pick<Counters, "set" | "setQueueDepth">;
  readonly announcements: Events;
  readonly queues: Pick<Queues, "cycles" | "loads">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Is told what each cycle saw. */
  readonly figures: (figures: Figures) => void;
}
