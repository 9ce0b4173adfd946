import type { CallSize } from "../../model/change/call-size.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import type { ReadSize } from "../../model/record/read-size.ts";
import type { LeaseGuard } from "../lease/lease-guard.ts";
import type { Clock, CycleStore, Salesforce } from "../ports/cycle-ports.ts";
import type { CycleCount, Lease, Watermarks } from "../ports/lease-ports.ts";
import type { Applied } from "../ports/pull-ports.ts";

/** One cycle, or one piece of long work, under its lease: what its steps share. */
export interface Cycle {
  readonly mapping: Mapping;
  readonly shape: TableShape;
  readonly lease: Lease;
  readonly hold: LeaseGuard;
  readonly store: CycleStore;
  readonly salesforce: Salesforce;
  /** What the mappings of the workspace share. */
  readonly shared: Shared;
  /** Ids of the Salesforce users as whom we write (the first) and wrote earlier. */
  readonly writers: () => Promise<readonly string[]>;
  readonly clock: Clock;
  /** In [0, 1); spreads retries. */
  readonly random: () => number;
  readonly callSize: CallSize;
  readonly tally: Tally;
  /** How much a read asks for; kept from one cycle to the next. */
  readonly reading: { size: ReadSize };
}

/** What the mappings of a workspace share: the probe, and a way to wake each other's cycles. */
export interface Shared {
  /** True for the first cycle of a slot that asks for the workspace's probe. */
  claimProbe(slot: number): Promise<boolean>;
  /** Whether a person has stopped the workspace, or the whole deployment. */
  isPaused(): Promise<boolean>;
  activeMappings(): Promise<readonly Mapping[]>;
  /** Asks for a comparison of both sides, whole. */
  sendSweep(mappingId: string): Promise<void>;
  /** Asks for the unfinished long work of a mapping to be continued. */
  sendLoad(mappingId: string): Promise<void>;
  /** Has a cycle pull then, for a ring that came before. */
  wakeAt(mappingId: string, at: Date): Promise<void>;
  /** Wakes cycles that pull. */
  sendPulls(mappingIds: readonly string[]): Promise<void>;
}

/** What a cycle did, for its line in the log. */
export type Tally = ReturnType<typeof newTally>;

export const newTally = () => ({
  /** Records read, and what applying them came to. */
  read: 0,
  inserted: 0,
  updated: 0,
  deleted: 0,
  rejected: 0,
  busy: 0,
  conflicts: 0,
  /** Deletes that were held by it, not before. */
  heldDeletes: 0,
  /** Changes accepted, refused, put off, without anything to send; calls that saved. */
  accepted: 0,
  refused: 0,
  retried: 0,
  settled: 0,
  saves: 0,
  /** Records of a call that the org's own code could bear; 0: as many as were sent. */
  callSize: 0,
  /** Jobs of the Bulk API that were left at work. */
  jobsWaiting: 0,
  /** Mappings that the workspace's probe asked about, and those that had changed. */
  probed: 0,
  changed: 0,
  /** Changes in doubt of earlier cycles that were settled, or that must still wait. */
  doubtsSettled: 0,
  doubtsWaiting: 0,
  /** What went wrong without ending the cycle. */
  notes: [] as string[],
});

const APPLIED = ["inserted", "updated", "deleted", "rejected", "busy", "conflicts", "heldDeletes"] as const;

/** Adds what applying a page came to. */
export function tallyApplied(tally: Tally, read: number, applied: Applied): void {
  tally.read += read;
  for (const count of APPLIED) tally[count] += applied[count];
}

/** What a cycle adds to its minute's count; `ended` null: it was long work. */
export function countOf(tally: Tally, ended: CycleCount["ended"]): CycleCount {
  const { inserted, updated, deleted, accepted, refused } = tally;
  return { ended, pulled: inserted + updated + deleted, accepted, refused };
}

/** Marks that a step moved; they are committed with its rows, and again with the cycle's end. */
export type Moved = Partial<Watermarks>;

/** Waits so many milliseconds of this time. */
export const pause = (clock: Clock, milliseconds: number): Promise<void> =>
  new Promise((resolve) => void clock.at(clock.now() + milliseconds, () => resolve()));
