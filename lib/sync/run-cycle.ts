import { mayPush as hasCalls, madeOf } from "../model/calls/budget.ts";
import { checksBeforeSave } from "../model/calls/check-before-save.ts";
import { isBlind, isDueAgain, nextPull } from "../model/calls/next-pull.ts";
import { SHORTEST_RING_SECONDS } from "../model/calls/plan.ts";
import { CallSize } from "../model/change/call-size.ts";
import { LOST_TAIL, REWOUND } from "../model/change/rewound.ts";
import { type Rewind, rewindOf } from "../model/high-water.ts";
import { type Mapping, pulls, pushes } from "../model/mapping/mapping.ts";
import { settledUntil } from "../model/record/position.ts";
import { WHOLE } from "../model/record/read-size.ts";
import { type Cycle, countOf, newTally } from "./cycle/cycle.ts";
import type { CycleNeeds, CycleOrder, CycleReport } from "./cycle/cycle-order.ts";
import { EngineStop } from "./cycle/engine-stop.ts";
import { lookUpRewound } from "./doubt/look-up-rewound.ts";
import { resolveInDoubt } from "./doubt/resolve-in-doubt.ts";
import { settleEditedInserts } from "./doubt/settle-edited-inserts.ts";
import { ENDED_WELL, type End, endBy, guardLease, LEASE_SECONDS } from "./lease/lease-guard.ts";
import type { Salesforce } from "./ports/cycle-ports.ts";
import { type Finished, type Held, LeaseLost, type Unchanged, type Watermarks } from "./ports/lease-ports.ts";
import { probe } from "./pull/probe.ts";
import { pull } from "./pull/pull.ts";
import { readHeldBack } from "./pull/read-page.ts";
import { isUnjudged, refuseUncaptured } from "./pull/refuse-uncaptured.ts";
import { type PushOrder, push } from "./push/push.ts";
import { refuseRestores, restoreRecords } from "./push/restore-records.ts";

/** One run for one mapping: take the lease, settle what is in doubt, pull, push, report, release. */
export async function runCycle(needs: CycleNeeds, order: CycleOrder): Promise<CycleReport> {
  const { id: mappingId, configVersion } = order.mapping;
  const { slot, owner } = order;
  const asked = { mappingId, work: "cycle", configVersion, owner, slot, leaseSeconds: LEASE_SECONDS } as const;
  const begun = await needs.store.begin(asked);
  if (!begun.held) return { ran: false, why: begun.why };

  const cycle = cycleOf(needs, order, begun);
  const rewind = rewindIn(order, begun, new Date(needs.clock.now()));
  const done: Done = { marks: {}, pulledAt: null, unchanged: null, checkedAt: 0, restedAt: 0 };
  let end = ENDED_WELL;
  try {
    refuseUncaptured(begun);
    if (rewind) await holdRewound(cycle, order, rewind);
    const given = rewind === "rewound" ? { ...order, saves: "none" as const } : order;
    const inDoubt = begun.waiting.unfinished ? await resolveInDoubt(cycle, maySave(given, needs.salesforce)) : [];
    const restored = await restoreAsked(cycle, given, begun);
    if (isReading(order)) await readHeldBack(cycle, restored);
    await takeTurns(cycle, given, begun, { done, rewind }, (sending, claimed) =>
      settleEditedInserts(cycle, sending, claimed, inDoubt),
    );
    // An acceptance may have overtaken the cycle that has held it; until everything is read, what was inserted there since
    // has not met its row.
    const mayBeHeld = rewind === "rewound" || begun.waiting.unfinished;
    const isRead = !pulls(cycle.shape.direction) || isSettled({ ...begun.marks, ...done.marks });
    if (mayBeHeld && order.saves !== "none" && isRead) await lookUpRewound(cycle);
    if (rewind === "rewound" && order.saves !== "none")
      throw new EngineStop({ reason: "database_rewound", message: REWOUND_MESSAGE });
  } catch (error) {
    end = endBy(error);
  }
  return { ...(await finish(cycle, begun, done, end)), rewind };
}

/** Undeletes what an operator has asked for; answers the records to read again, with those that are back. */
async function restoreAsked(cycle: Cycle, order: CycleOrder, { restores, rereads }: Held): Promise<readonly string[]> {
  if (restores.length === 0) return rereads;
  if (!pushes(order.mapping.syncDirection)) {
    await refuseRestores(cycle, restores);
    return rereads;
  }
  return maySave(order, cycle.salesforce) ? [...rereads, ...(await restoreRecords(cycle, restores))] : rereads;
}

function rewindIn(
  { highWater, rewoundAt }: CycleOrder,
  { lease: { fence }, logId, shape }: Held,
  at: Date,
): Rewind | null {
  if (!pushes(shape.direction)) return null; // it reads again what it has lost
  return rewoundAt ? "rewound" : rewindOf(highWater, { fence, logId, at });
}

const isSettled = ({ position, load }: Watermarks): boolean =>
  position !== null && (load === null || load.kind === "sweep");

/** The clock of the database may be behind ours. */
const CLOCKS_APART_MILLISECONDS = 60_000;

/**
 * What waits may have been sent since its capture, and is held until that is known. What was captured after the rewind was
 * noticed was not: a person could never accept a restore while the application writes.
 */
async function holdRewound({ store, lease, tally }: Cycle, { rewoundAt }: CycleOrder, rewind: Rewind): Promise<void> {
  const until = rewoundAt && new Date(rewoundAt.getTime() + CLOCKS_APART_MILLISECONDS);
  await store.holdWaiting(lease, rewind === "tail" ? LOST_TAIL : REWOUND, until);
  if (rewoundAt === null) tally.notes.push(rewind === "tail" ? TAIL_MESSAGE : REWOUND_MESSAGE);
}

const TAIL_MESSAGE =
  "the database has lost its last moments, as by a failover: everything is pulled, and what waits is looked up in Salesforce before it is sent";
const REWOUND_MESSAGE =
  "DATABASE_REWOUND: the database was restored to an earlier time, or is a copy: nothing is sent until a person has seen bridge restore plan and run bridge restore accept; pulls continue";

/** Two slots: a pull or push with a backlog lets the other wait so long at most, beyond the call that is under way. */
const TURN_MILLISECONDS = 20_000;

/**
 * Pull and push alternate while either has work. A long push gives way to a pull as soon as one is due again, and a pull
 * checks after each time slice for changes that have come meanwhile.
 */
async function takeTurns(
  cycle: Cycle,
  order: CycleOrder,
  begun: Held,
  { done, rewind }: { readonly done: Done; readonly rewind: Rewind | null },
  settleEdited: PushOrder["settleEdited"],
): Promise<void> {
  const { clock, salesforce } = cycle;
  const nextTurn = () => {
    const end = clock.now() + TURN_MILLISECONDS;
    return () => clock.now() >= end;
  };
  let toPull =
    (await hasToPull(cycle, order, begun, done)) ||
    (rewind !== null && isReading(order) && begun.marks.position !== null);
  let toPush = isPushing(order, begun, salesforce);
  let blind = rewind !== null || isBlind(begun, new Date(clock.now()));
  while (toPull || toPush) {
    if (toPull) {
      const began = clock.now();
      const { marks, pulledAt, isDone } = await pull(cycle, { ...begun.marks, ...done.marks }, nextTurn());
      Object.assign(done, { marks: { ...done.marks, ...marks }, pulledAt: pulledAt ?? done.pulledAt });
      done.restedAt = clock.now() + SHORTEST_RING_SECONDS * 1000;
      if (isDone) done.checkedAt = began;
      toPull = !isDone;
      blind &&= toPull;
      toPush ||= toPull && mayPush(order, begun, salesforce);
    }
    if (toPush && !(toPull && blind)) {
      const isOver = toPull ? nextTurn() : () => isPullDueAgain(cycle, order, begun, done);
      const checks = checksOf(order, begun, done);
      const isLeft = await push(cycle, { settleEdited, probes: order.saves === "probe", isOver, checks });
      toPush = isLeft && mayPush(order, begun, salesforce);
      toPull ||= toPush && isPullDueAgain(cycle, order, begun, done);
    }
  }
}

function checksOf({ mapping }: CycleOrder, begun: Held, { marks, checkedAt }: Done): PushOrder["checks"] {
  if (!checksBeforeSave(mapping)) return null;
  const { position } = { ...begun.marks, ...marks };
  return { settledUntil: position && settledUntil(position), checkedAt };
}

/** Whether the time for another pull has come during a push. */
function isPullDueAgain(
  { clock }: Cycle,
  { mapping, budget }: CycleOrder,
  { marks, lastPullAt }: Held,
  { pulledAt, unchanged, restedAt }: Done,
): boolean {
  const last = pulledAt ?? unchanged?.at ?? lastPullAt;
  const due = isDueAgain(budget, mapping, { marks, lastPullAt: last }, new Date(clock.now()));
  return due.poll || (due.ring && restedAt <= clock.now());
}

const refusing = ({ rows, sqlState }: Finished["refusedWriteBacks"]): string =>
  `rows refused the results of their changes: ${rows} (SQLSTATE ${sqlState}); sf_message of the changes has their words`;

interface Done {
  marks: Partial<Watermarks>;
  pulledAt: Date | null;
  unchanged: Unchanged | null;
  /** When it last began to read everything that had changed, by our clock; 0: it has not. */
  checkedAt: number;
  /** When this cycle may pull again for a ring (epoch milliseconds), by our own clock: the org's has no fractions. */
  restedAt: number;
}

function cycleOf(needs: CycleNeeds, { mapping, writers, deadline, callSize }: CycleOrder, begun: Held): Cycle {
  const { lease, shape, marks } = begun;
  const hold = guardLease(needs.store, lease, needs.clock, deadline, needs.shared.isPaused);
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

/** Records whose rows were held last time are read again at every beat, unless the org's calls are saved. */
const isReading = ({ mapping, budget }: CycleOrder): boolean => pulls(mapping.syncDirection) && hasCalls(budget, 0);

/** A beat asks the workspace's probe, which knows of all mappings for one call. */
async function hasToPull(cycle: Cycle, order: CycleOrder, begun: Held, done: Done): Promise<boolean> {
  const { mapping, kind, slot, wakes, budget } = order;
  const asked = { kind, slot, wakes, hasChanges: begun.waiting.changes, hasNews: order.hasToPull };
  const next = nextPull(budget, mapping, begun, asked, new Date(cycle.clock.now()));
  if (next instanceof Date) await cycle.shared.wakeAt(mapping.id, next);
  if (next !== "probe" || slot === null) return next === "now";
  const { toPull, unchanged, changed } = await probe(cycle, { budget, slot, waiting: [mapping.id] });
  done.unchanged = unchanged;
  done.marks = unchanged?.late?.find(({ mappingId }) => mappingId === mapping.id)?.marks ?? {};
  cycle.tally.changed += changed;
  return toPull.length > 0;
}

function isPushing(order: CycleOrder, begun: Held, salesforce: Salesforce): boolean {
  const { waiting } = begun;
  // What was unfinished may wait again by now.
  return (waiting.changes || waiting.unfinished) && mayPush(order, begun, salesforce);
}

function mayPush(order: CycleOrder, begun: Held, salesforce: Salesforce): boolean {
  return pushes(order.mapping.syncDirection) && !isUnjudged(begun) && maySave(order, salesforce);
}

/** Whether the org's calls suffice to save, or to find the result of a save; a manual poll is never spared. */
function maySave({ kind, budget, saves }: CycleOrder, salesforce: Salesforce): boolean {
  if (saves === "none") return false;
  return kind === "poll" || hasCalls(budget, madeOf(salesforce.calls()));
}

type Ended = Omit<Extract<CycleReport, { readonly ran: true }>, "rewind">;

/** Always: calls were sent, watermarks may have moved, and a lease ended by a new configuration is given back. */
async function finish(cycle: Cycle, begun: Held, done: Done, { stopped, error }: End): Promise<Ended> {
  const { store, lease, tally, salesforce, callSize } = cycle;
  tally.callSize = callSize.learned ?? 0;
  const report = {
    ran: true,
    tally,
    stopped,
    heldDeletes: begun.heldDeletes,
    outboxWaits: begun.waiting.outbox || tally.refused > 0,
    reached: { fence: lease.fence, logId: begun.logId },
    needsLoad: owesLoad(cycle.mapping, begun.marks),
  } as const;
  try {
    const count = countOf(tally, error !== null ? "failed" : stopped !== null ? "stopped" : "well");
    const { size } = cycle.reading;
    const isSame = size === (begun.marks.lanes.size ?? WHOLE);
    const changed = count.pulled + count.accepted + count.refused > 0 ? { stamp: new Date(cycle.clock.now()) } : null;
    const lanes = { ...done.marks.lanes, ...(!isSame && { size }), ...(changed && { changed }) };
    const marks = Object.keys(lanes).length === 0 ? done.marks : { ...done.marks, lanes };
    const end = { ...done, marks, apiCalls: salesforce.calls(), error: error === null ? null : String(error), count };
    // Conflicts and clashes end changes, too, outside of any answer.
    const { outboxWaits, refusedWriteBacks, ...totals } = await store.finish(lease, end);
    if (refusedWriteBacks.rows > 0) tally.notes.push(refusing(refusedWriteBacks));
    return { ...report, totals, outboxWaits: report.outboxWaits || outboxWaits, error };
  } catch (cause) {
    if (cause instanceof LeaseLost) return { ...report, stopped: "lost", totals: null, error };
    return { ...report, totals: null, error: error ?? cause };
  }
}
