import { allowance, type Budget, isPullDue } from "../model/budget.ts";
import { CallSize } from "../model/change/call-size.ts";
import { type Mapping, pulls, pushes } from "../model/mapping/mapping.ts";
import type { CycleMessage } from "../model/messages.ts";
import { WHOLE } from "../model/record/read-size.ts";
import { probe } from "./beat/probe.ts";
import { type Cycle, countOf, newTally, type Shared, type Tally } from "./cycle/cycle.ts";
import type { Clock, CycleStore, Salesforce } from "./cycle/cycle-ports.ts";
import { resolveInDoubt } from "./doubt/resolve-in-doubt.ts";
import { settleEditedInserts } from "./doubt/settle-edited-inserts.ts";
import { ENDED_WELL, type End, endBy, guardLease, LEASE_SECONDS, type StopReason } from "./lease/lease-guard.ts";
import {
  type Begun,
  type Finished,
  type Held,
  LeaseLost,
  type Totals,
  type Unchanged,
  type Watermarks,
} from "./lease/lease-ports.ts";
import { areLateLanesDue, pull } from "./pull/pull.ts";
import { readHeldBack } from "./pull/read-page.ts";
import { isUnjudged, refuseUncaptured } from "./pull/refuse-uncaptured.ts";
import { type PushOrder, push } from "./push/push.ts";

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
  /** Ids of the Salesforce users as whom we write (the first) and wrote earlier. */
  readonly writers: () => Promise<readonly string[]>;
  readonly budget: Budget;
  /** Records of a call, at most. */
  readonly callSize: number;
  /** `probe`: the org has refused saves for reasons of its own; `none`: until this has rested. */
  readonly saves: "all" | "probe" | "none";
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
      /** Deletes that were held when it began, on both sides. */
      readonly heldDeletes: number;
      /** Long work is unfinished; whether somebody is at it only its own lease tells. */
      readonly needsLoad: boolean;
    };

/** One run for one mapping: take the lease, settle what is in doubt, pull, push, report, release. */
export async function runCycle(needs: CycleNeeds, order: CycleOrder): Promise<CycleReport> {
  const { id: mappingId, configVersion } = order.mapping;
  const { slot, owner } = order;
  const asked = { mappingId, work: "cycle", configVersion, owner, slot, leaseSeconds: LEASE_SECONDS } as const;
  const begun = await needs.store.begin(asked);
  if (!begun.held) return { ran: false, why: begun.why };

  const cycle = cycleOf(needs, order, begun);
  const done: Done = { marks: {}, pulledAt: null, unchanged: null };
  let end = ENDED_WELL;
  try {
    refuseUncaptured(begun);
    const inDoubt = begun.waiting.unfinished ? await resolveInDoubt(cycle, maySave(order, needs.clock)) : [];
    if (isReading(cycle, order)) await readHeldBack(cycle, begun.rereads);
    await takeTurns(cycle, order, begun, done, (sending, claimed) =>
      settleEditedInserts(cycle, sending, claimed, inDoubt),
    );
  } catch (error) {
    end = endBy(error);
  }
  return finish(cycle, begun, done, end);
}

/** Two slots: so long at most pull and push wait for each other, beyond the call that is under way. */
const TURN_MILLISECONDS = 20_000;

/**
 * Pull and push by turns while either has work. A push that goes on gives way to a pull once one is due again, and a pull
 * looks in every turn for changes that have come meanwhile.
 */
async function takeTurns(
  cycle: Cycle,
  order: CycleOrder,
  begun: Held,
  done: Done,
  settleEdited: PushOrder["settleEdited"],
): Promise<void> {
  const { clock } = cycle;
  const nextTurn = () => {
    const end = clock.now() + TURN_MILLISECONDS;
    return () => clock.now() >= end;
  };
  let toPull = await hasToPull(cycle, order, begun, done);
  let toPush = isPushing(order, begun, clock);
  while (toPull || toPush) {
    if (toPull) {
      const { marks, pulledAt, isDone } = await pull(cycle, { ...begun.marks, ...done.marks }, nextTurn());
      Object.assign(done, { marks: { ...done.marks, ...marks }, pulledAt: pulledAt ?? done.pulledAt });
      toPull = !isDone;
      toPush ||= toPull && mayPush(order, begun, clock);
    }
    if (toPush) {
      const isLeft = await push(cycle, { settleEdited, probes: order.saves === "probe", isOver: nextTurn() });
      toPush = isLeft && mayPush(order, begun, clock);
      toPull ||= toPush && isPullDueAgain(cycle, order, begun, done);
    }
  }
}

/** Whether the time for another pull has come while a push went on. */
function isPullDueAgain(
  { clock }: Cycle,
  { mapping, budget }: CycleOrder,
  { marks, lastPullAt }: Held,
  { pulledAt, unchanged }: Done,
): boolean {
  const now = new Date(clock.now());
  const { pullEverySeconds } = allowance(budget, mapping.pollingSeconds, now);
  if (!pulls(mapping.syncDirection) || marks.position === null || pullEverySeconds === null) return false;
  return isPullDue(pullEverySeconds, pulledAt ?? unchanged?.at ?? lastPullAt, now);
}

const refusing = ({ rows, sqlState }: Finished["refusedWriteBacks"]): string =>
  `rows refused to be told what became of their changes: ${rows} (SQLSTATE ${sqlState}); sf_message of the changes has their words`;

interface Done {
  marks: Partial<Watermarks>;
  pulledAt: Date | null;
  unchanged: Unchanged | null;
}

function cycleOf(needs: CycleNeeds, { mapping, writers, deadline, callSize }: CycleOrder, begun: Held): Cycle {
  const { lease, shape, marks } = begun;
  const hold = guardLease(needs.store, lease, needs.clock, deadline);
  return {
    ...needs,
    mapping,
    writers,
    lease,
    shape,
    hold,
    callSize: new CallSize(callSize),
    tally: newTally(),
    reading: { size: marks.lanes.size ?? WHOLE },
  };
}

/** Whether long work of a mapping is unfinished. */
export const owesLoad = ({ syncDirection }: Mapping, { position, load }: Watermarks): boolean =>
  pulls(syncDirection) && (position === null || load !== null);

/** Records whose rows were held last time are read again at every beat, unless the org's calls are to be spared. */
function isReading({ clock }: Cycle, { mapping, budget }: CycleOrder): boolean {
  const now = new Date(clock.now());
  return pulls(mapping.syncDirection) && allowance(budget, mapping.pollingSeconds, now).pullEverySeconds !== null;
}

/** Whoever was asked to pull does; a beat asks the workspace's probe first, which knows of all mappings for one call. */
async function hasToPull(
  cycle: Cycle,
  { mapping, kind, slot, budget, hasToPull: isKnown }: CycleOrder,
  { marks, lastPullAt }: Held,
  done: Done,
): Promise<boolean> {
  // Without a position the first load has not ended.
  if (!pulls(mapping.syncDirection) || marks.position === null) return false;
  if (kind !== "beat" || slot === null) return true;
  if (isKnown !== null) return isKnown;
  const now = new Date(cycle.clock.now());
  const { pullEverySeconds } = allowance(budget, mapping.pollingSeconds, now);
  if (pullEverySeconds === null || !isPullDue(pullEverySeconds, lastPullAt, now)) return false;
  if (areLateLanesDue(marks, now)) return true;
  const { toPull, unchanged, changed } = await probe(cycle, { budget, slot, waiting: [mapping.id] });
  done.unchanged = unchanged;
  cycle.tally.changed += changed;
  return toPull.length > 0;
}

function isPushing(order: CycleOrder, begun: Held, clock: Clock): boolean {
  const { waiting } = begun;
  // What was unfinished may wait again by now.
  return (waiting.changes || waiting.unfinished) && mayPush(order, begun, clock);
}

function mayPush(order: CycleOrder, begun: Held, clock: Clock): boolean {
  return pushes(order.mapping.syncDirection) && !isUnjudged(begun) && maySave(order, clock);
}

/** Whether the org's calls suffice to save, or to learn what became of a save; who polls by hand is not spared them. */
function maySave({ mapping, kind, budget, saves }: CycleOrder, clock: Clock): boolean {
  if (saves === "none") return false;
  return kind === "poll" || allowance(budget, mapping.pollingSeconds, new Date(clock.now())).pushes;
}

/** Whatever happened: calls were made, marks may have moved, and a lease that a new configuration ended is given back. */
async function finish(cycle: Cycle, begun: Held, done: Done, { stopped, error }: End): Promise<CycleReport> {
  const { store, lease, tally, salesforce, callSize } = cycle;
  tally.callSize = callSize.learned ?? 0;
  const report = {
    ran: true,
    tally,
    stopped,
    heldDeletes: begun.heldDeletes,
    outboxWaits: begun.waiting.outbox || tally.refused > 0,
    needsLoad: owesLoad(cycle.mapping, begun.marks),
  } as const;
  try {
    const count = countOf(tally, error !== null ? "failed" : stopped !== null ? "stopped" : "well");
    const { size } = cycle.reading;
    const isSame = size === (begun.marks.lanes.size ?? WHOLE);
    const marks = isSame ? done.marks : { ...done.marks, lanes: { ...done.marks.lanes, size } };
    const end = { ...done, marks, apiCalls: salesforce.calls(), error: error === null ? null : String(error), count };
    // Conflicts and clashes end changes, too, outside of any answer.
    const { outboxWaits, refusedWriteBacks: untold, ...totals } = await store.finish(lease, end);
    if (untold.rows > 0) tally.notes.push(refusing(untold));
    return { ...report, totals, outboxWaits: report.outboxWaits || outboxWaits, error };
  } catch (cause) {
    if (cause instanceof LeaseLost) return { ...report, stopped: "lost", totals: null, error };
    return { ...report, totals: null, error: error ?? cause };
  }
}
