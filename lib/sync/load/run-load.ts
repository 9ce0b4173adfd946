import { type Budget, madeOf, maySpare } from "../../model/calls/budget.ts";
import { CallSize } from "../../model/change/call-size.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { LoadMessage } from "../../model/messages.ts";
import { WHOLE } from "../../model/record/read-size.ts";
import { type Cycle, countOf, newTally, type Tally } from "../cycle/cycle.ts";
import type { CycleNeeds } from "../cycle/cycle-order.ts";
import { EngineStop } from "../cycle/engine-stop.ts";
import { ENDED_WELL, endBy, guardLease, LEASE_SECONDS } from "../lease/lease-guard.ts";
import type { CycleStore } from "../ports/cycle-ports.ts";
import { LeaseLost, type Watermarks } from "../ports/lease-ports.ts";
import { type LoadCheckpoint, UNSTARTED } from "../ports/load-ports.ts";
import { refuseUncaptured } from "../pull/refuse-uncaptured.ts";
import { dryRun, refuseUnseen } from "./dry-run.ts";
import { commit, looksAtRows, readAllRecords, startReading } from "./full-read.ts";
import { sweepRows } from "./sweep-rows.ts";

/** What one piece of long work is asked to do. */
export interface LoadOrder {
  readonly mapping: Mapping;
  readonly kind: LoadMessage["kind"];
  readonly budget: Budget;
  /** Ids of the Salesforce users as whom we write (the first) and wrote earlier. */
  readonly writers: () => Promise<readonly string[]>;
  readonly owner: string;
  /** Epoch milliseconds when the invocation ends. */
  readonly deadline: number;
}

/**
 * `done`: nothing is left; `more`: another invocation continues it; `spared`: the org's calls run low, and the cycles
 * ask for it again; `busy`: another invocation runs it; `stale`: it is out of date.
 */
export interface LoadReport {
  readonly outcome: "done" | "more" | "spared" | "busy" | "stale";
  readonly tally: Tally;
}

/**
 * Reads everything that the org has once, beside the cycles and under a lease of its own: the first load, the backfill
 * of added columns, the sweep that compares both sides. Each page commits where the next one starts, so that any later
 * invocation can continue. Rejects with an engine-level error, after storing it.
 */
export async function runLoad(needs: CycleNeeds, order: LoadOrder): Promise<LoadReport> {
  const { id: mappingId, configVersion } = order.mapping;
  const asked = { mappingId, work: "load", configVersion, owner: order.owner, slot: null } as const;
  const begun = await needs.store.begin({ ...asked, leaseSeconds: LEASE_SECONDS });
  const tally = newTally();
  if (!begun.held) return { outcome: begun.why === "running" ? "busy" : "stale", tally };

  const { lease, shape, marks } = begun;
  const lock = guardLease(needs.store, lease, needs.clock, order.deadline, needs.shared.isPaused);
  const mayRead = async () => {
    if (!maySpare(order.budget, madeOf(needs.salesforce.calls()))) throw new CallsSpared();
    await lock.mayRead();
  };
  const hold = { ...lock, mayRead };
  const { mapping, writers } = order;
  const own = { callSize: new CallSize(), reading: { size: marks.load?.size ?? WHOLE }, tally };
  let before = 0;
  const calls = () => before + madeOf(needs.salesforce.calls());
  const store = countingCalls(needs.store, calls);
  const cycle: Cycle = { ...needs, store, mapping, writers, lease, shape, hold, ...own };
  let [end, isSpared] = [ENDED_WELL, false];
  try {
    refuseUncaptured(begun);
    if (order.kind === "dry_run") await dryRun(cycle);
    const work = order.kind === "dry_run" ? null : workToDo(order.kind, marks);
    if (work?.kind === "load" && !isStarted(work)) await refuseUnseen(cycle);
    before = callsOf(work);
    if (work) await carryOn(cycle, isStarted(work) ? work : await start(cycle, work, marks), calls);
  } catch (error) {
    isSpared = error instanceof CallsSpared;
    if (!isSpared) end = endBy(error);
  }
  const isOurs = await giveBack(cycle, end.error);
  // The cycles report it, and ask for a load again once the trigger works.
  const isUncaptured = end.error instanceof EngineStop && end.error.failure.reason !== "first_match";
  if (isUncaptured && order.kind !== "dry_run") return { outcome: "stale", tally };
  if (end.error !== null) throw end.error;
  if (end.stopped === "lost" || !isOurs) return { outcome: "stale", tally };
  return { outcome: isSpared ? "spared" : end.stopped === null ? "done" : "more", tally };
}

/** Long work stops between two calls when the rest of the share is for pulls and saves. */
class CallsSpared extends Error {}

/** False when the lease was another's by then, or the configuration another one. */
async function giveBack({ store, lease, salesforce, tally }: Cycle, error: unknown): Promise<boolean> {
  const end = {
    marks: {},
    pulledAt: null,
    apiCalls: salesforce.calls(),
    error: error === null ? null : String(error),
    count: countOf(tally, null),
  };
  try {
    await store.finish(lease, end);
    return true;
  } catch (cause) {
    if (cause instanceof LeaseLost) return false;
    throw cause;
  }
}

type Work = LoadCheckpoint | Pick<LoadCheckpoint, "kind" | "since" | "overRows">;

/** `load` carries on with whatever is unfinished. New columns make what was read before them of no use. */
function workToDo(asked: Exclude<LoadOrder["kind"], "dry_run">, { position, load }: Watermarks): Work | null {
  if (load && asked === "load") return load;
  if (position === null) return asked !== "backfill" && load ? load : { kind: "load" };
  if (asked === "load") return null;
  return load?.kind === "sweep" && asked === "sweep" ? load : { kind: asked };
}

/** From here on the work is pending in the database, so that the cycles ask again where its first attempt fails. */
async function start(cycle: Cycle, work: Work, { position, load }: Watermarks): Promise<LoadCheckpoint> {
  if (position !== null && load === null) {
    await commit(cycle, { load: { ...UNSTARTED, kind: work.kind } });
  }
  return startReading(cycle, work);
}

/** Provisioning only notes that something has to be read again. */
function isStarted(work: Work): work is LoadCheckpoint {
  return "startedAt" in work && (work.afterId !== null || work.bulk !== null || work.afterRow !== null);
}

/** What earlier invocations have asked for the same work. */
const callsOf = (work: Work | null): number => (work && isStarted(work) ? (work.calls ?? 0) : 0);

async function carryOn(cycle: Cycle, checkpoint: LoadCheckpoint, calls: () => number): Promise<void> {
  const read = checkpoint.afterRow === null ? await readAllRecords(cycle, checkpoint) : checkpoint;
  if (looksAtRows(cycle, read)) await sweepRows(cycle, read, calls);
}

/** Each stored checkpoint has what the reading has cost by then, for the invocation that continues it. */
function countingCalls(store: CycleStore, calls: () => number): CycleStore {
  const apply: CycleStore["apply"] = (lease, page) => {
    const load = page.marks?.load;
    return store.apply(lease, load ? { ...page, marks: { ...page.marks, load: { ...load, calls: calls() } } } : page);
  };
  return new Proxy(store, { get: (target, name) => (name === "apply" ? apply : Reflect.get(target, name)) });
}
