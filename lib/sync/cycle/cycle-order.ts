import type { Budget } from "../../model/calls/budget.ts";
import type { HighWater, Rewind } from "../../model/high-water.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { CycleMessage, Wakes } from "../../model/messages.ts";
import type { StopReason } from "../lease/lease-guard.ts";
import type { Clock, CycleStore, Salesforce } from "../ports/cycle-ports.ts";
import type { Begun, Totals } from "../ports/lease-ports.ts";
import type { Shared, Tally } from "./cycle.ts";

/** What a cycle, or a piece of long work, needs around it. */
export interface CycleNeeds {
  readonly store: CycleStore;
  readonly salesforce: Salesforce;
  readonly shared: Shared;
  readonly clock: Clock;
  readonly random: () => number;
}

/** What one cycle is asked to do. */
export interface CycleOrder {
  readonly mapping: Mapping;
  readonly kind: CycleMessage["kind"];
  readonly slot: number | null;
  /** Left out: it looks at both sides. */
  readonly wakes?: Wakes | undefined;
  /** Ids of the Salesforce users as whom we write (the first) and wrote earlier. */
  readonly writers: () => Promise<readonly string[]>;
  readonly budget: Budget;
  /** Records of a call, at most. */
  readonly callSize: number;
  /** `probe`: the org has refused saves for reasons of its own; `none`: until this has rested. */
  readonly saves: "all" | "probe" | "none";
  /** How far the database has been, newest first; and since when it counts as restored, null: it does not. */
  readonly highWater: readonly HighWater[];
  readonly rewoundAt: Date | null;
  /** Names the invocation in `_bridge_state`. */
  readonly owner: string;
  /** Epoch milliseconds when the invocation ends. */
  readonly deadline: number;
  /** Whether a beat has to pull; null: it asks. */
  readonly hasToPull: boolean | null;
}

/** What a cycle came to. */
export type CycleReport =
  | { readonly ran: false; readonly why: Extract<Begun, { readonly held: false }>["why"] }
  | {
      readonly ran: true;
      readonly tally: Tally;
      readonly totals: Totals | null;
      /** Why it ended before its work did; null when it did not. */
      readonly stopped: StopReason | null;
      /** An engine-level error that ended it; null when there was none. */
      readonly error: unknown;
      readonly outboxWaits: boolean;
      /** How far the database is; null: an idle beat does not ask. And what it has lost; null: nothing. */
      readonly reached: Pick<HighWater, "fence" | "logId"> | null;
      readonly rewind: Rewind | null;
      /** Deletes that were held when it began, on both sides. */
      readonly heldDeletes: number;
      /** Long work is unfinished; only its own lease shows whether a worker runs it. */
      readonly needsLoad: boolean;
    };
