import { LATE_MILLISECONDS } from "../../model/beat.ts";
import { FULL_PACE_SECONDS } from "../../model/calls/interval.ts";
import { sizeNow } from "../../model/change/call-size.ts";
import { deathsAlone, inWords, type PollOutcome, reasonFor } from "../../model/engine.ts";
import { Failure } from "../../model/failure.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { CycleMessage } from "../../model/messages.ts";
import { reportPause } from "../../model/workspace/pause.ts";
import { countOf } from "../cycle/cycle.ts";
import type { CycleOrder, CycleReport } from "../cycle/cycle-order.ts";
import { EngineStop } from "../cycle/engine-stop.ts";
import { sharedBy } from "../cycle/shared.ts";
import { wake } from "../cycle/wake.ts";
import type { CycleStore, KeptEngine, MessageNeeds, Salesforce } from "../ports/cycle-ports.ts";
import type { Reported } from "../report/conclude-cycle.ts";
import { failureOf } from "../report/cycle-failure.ts";
import { UNBEGUN } from "../report/figures.ts";
import { reportCycle, reportUnbegun } from "../report/report-cycle.ts";
import { runCycle } from "../run-cycle.ts";
import { type Beat, type Looked, UNKNOWN } from "./idle-beats.ts";

/** The invocation that answers: its name, and when it ends (epoch milliseconds). */
export interface Invocation {
  readonly owner: string;
  readonly deadline: number;
  /** The result of a beat before its cycle; left out: nothing checks, and its cycle runs. */
  readonly look?: (beat: Beat) => Promise<Looked>;
  /** Runs its work as soon as the invocation has room for it; left out: at once. */
  readonly whenRoom?: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** No other cycle of the invocation is at work. */
  readonly isAlone?: boolean;
}

/** A poll or a pull that meets a running cycle comes back after this long. */
const AGAIN_SECONDS = 3;
const WAKE_AGAIN_MILLISECONDS = 1_000;

/**
 * Runs the cycle that a message asks for, reports its result, and stores how it ended. Above 0 it has not run, because
 * its function died so often that it must run alone.
 */
export async function handleCycleMessage(
  needs: MessageNeeds,
  message: CycleMessage,
  invocation: Invocation,
): Promise<number> {
  const outcome = await answer(needs, message, invocation);
  if (typeof outcome === "number") return outcome;
  if (outcome === "again" || message.mark === undefined) return 0;
  const endedAt = new Date(needs.clock.now());
  await needs.engine.endPoll(message.workspace_id, message.mark, { ...outcome, endedAt });
  return 0;
}

const notRun = (error: string) => ({ pulled: null, accepted: null, refused: null, error });

type Outcome = Omit<PollOutcome, "endedAt">;

/** The result; "again": its message comes back; a number: it must run alone. */
async function answer(
  needs: MessageNeeds,
  message: CycleMessage,
  { look, whenRoom = (work) => work(), isAlone = false, ...invocation }: Invocation,
): Promise<Outcome | "again" | number> {
  const now = new Date(needs.clock.now());
  if (isLate(message, now)) return notRun("it came too late");
  const mapping = await needs.mappings.find(message.workspace_id, message.mapping_id);
  if (!mapping || !isRunnable(mapping)) return notRun("the mapping is not active, or its table is being created");
  const pause = await needs.pauses.find(mapping.workspaceId);
  if (pause) return notRun(reportPause(pause)); // what is captured meanwhile is sent when it is resumed
  const { engine, budget } = await needs.engine.read(mapping.workspaceId, mapping.id);
  const deaths = deathsAlone(engine.state, now);
  if (deaths > 0 && !isAlone) return deaths;
  const rests = isResting(message, engine, now);
  const { pullsGoOn, probes } = engine.state.lastFailure ? reasonFor(engine.state.lastFailure.reason) : {};
  if (rests && !pullsGoOn) {
    needs.figures(UNBEGUN); // what the rest is for continues
    return notRun("it waits after a failure before it tries again");
  }

  const saves = rests ? "none" : probes ? "probe" : "all";
  const reported = { mapping, message, engine, budget, saves, startedAt: now.getTime() } as const;
  const { kind, slot, wakes } = message;
  const callSize = sizeNow(mapping.batchSize, engine.state.callSize, now);
  const { rewoundAt } = engine.state;
  const order = { mapping, kind, slot, wakes, saves, budget, callSize, rewoundAt, ...invocation } as const;
  // An idle beat looks at no position, and would end the state.
  const isLookedAt = look && kind === "beat" && slot !== null && !rewoundAt;
  const looked = isLookedAt ? look({ mapping, slot, budget }) : Promise.resolve(UNKNOWN);
  const { idle, isHandedOver } = await looked.catch(() => UNKNOWN); // its failure is the cycle's own
  if (isHandedOver) return notRun("another invocation has its message");
  const work = () => runAndReport(needs, reported, order, looked);
  return idle ? work() : whenRoom(work);
}

type Order = Omit<CycleOrder, "writers" | "hasToPull" | "highWater">;

/** A cycle that ran, or met another one, with the calls that it made. */
interface Ran {
  readonly report: CycleReport;
  /** How far the database has been by what is kept, newest first. */
  readonly highWater?: CycleOrder["highWater"];
  readonly usage: ReturnType<Salesforce["usage"]>;
}

/** What a cycle has opened, and how its reading is stopped. */
interface Opened {
  store: CycleStore | null;
  readonly stopReading: AbortController;
}

async function runAndReport(
  needs: MessageNeeds,
  reported: Reported,
  order: Order,
  looked: Promise<Looked>,
): Promise<Outcome | "again"> {
  const { mapping, message } = reported;
  const opened: Opened = { store: null, stopReading: new AbortController() };
  try {
    const ran = await run(needs, order, { looked, reached: reported.engine.state.reached }, opened).catch(
      (error: unknown) => ({ error }),
    );
    if (ran === null) return notRun("nothing waits");
    if ("error" in ran) {
      // A database or an org that cannot be reached is an engine-level error too, and is reported although it has no
      // lease.
      await reportUnbegun(needs, reported, ran.error);
      await pullAgain(needs, mapping, message);
      return notRun(inWords(failureOf(ran.error)));
    }
    const { report } = ran;
    if (isInTheWay(message, report)) {
      await comeBack(needs, mapping, message);
      return "again";
    }
    await reportCycle(needs, { ...reported, ...ran, store: opened.store }, report);
    if (report.ran && (report.error !== null || report.stopped !== null)) await pullAgain(needs, mapping, message);
    return outcomeOf(report);
  } finally {
    opened.stopReading.abort();
    await opened.store?.close();
  }
}

/** Runs the cycle where a beat has found something to do; null: it was to push, and nothing waits. */
async function run(
  needs: MessageNeeds,
  order: Order,
  { looked, reached: last }: { readonly looked: Promise<Looked> } & Pick<KeptEngine["state"], "reached">,
  opened: Opened,
): Promise<Ran | null> {
  const reached = last ? [last] : [];
  const { mapping, wakes } = order;
  const { idle, hasToPull } = await looked;
  if (idle) return idle;
  const store = await needs.connections.openStore(mapping.workspaceId);
  opened.store = store;
  if (wakes === "push" && (await store.syncStates([mapping.id]))[0]?.isIdle) return null;
  const { salesforce, writers } = await needs.connections.connectOrg(mapping.workspaceId, opened.stopReading.signal);
  const shared = sharedBy(needs, mapping.workspaceId);
  const highWater = [...reached, ...(await needs.engine.highWater(mapping.workspaceId, mapping.id))];
  const given = { ...order, writers, hasToPull, highWater };
  const report = await runCycle({ ...needs, store, salesforce, shared }, given);
  if (isMissing(report)) throw missing(mapping);
  if (await isBehind(needs, mapping, report))
    throw new EngineStop({ reason: "config_behind", message: behind(mapping) });
  return { report, usage: salesforce.usage(), highWater };
}

function outcomeOf(report: CycleReport): Outcome {
  if (!report.ran) return notRun(`the cycle could not begin: ${report.why}`);
  const { tally, error, stopped } = report;
  const { pulled, accepted, refused } = countOf(tally, "well");
  return { pulled, accepted, refused, error: error === null ? stopped : inWords(failureOf(error)) };
}

/** Comes back when the running cycle has ended; of many wake-ups that meet a long one, one does. */
async function comeBack({ engine, queues, clock }: MessageNeeds, mapping: Mapping, message: CycleMessage) {
  const { wakes } = message;
  if (!wakes) return queues.cycles.send([{ message, delaySeconds: AGAIN_SECONDS }]);
  const now = clock.now();
  return wake({ times: engine, cycles: queues.cycles }, [mapping], wakes, { now, at: now + WAKE_AGAIN_MILLISECONDS });
}

/** What was rung for and was not read comes as soon as any poll: the next one may be minutes away behind a doorbell. */
async function pullAgain({ engine, queues, clock }: MessageNeeds, mapping: Mapping, { wakes }: CycleMessage) {
  if (wakes !== "pull") return;
  const now = clock.now();
  const at = now + FULL_PACE_SECONDS * 1000;
  await wake({ times: engine, cycles: queues.cycles }, [mapping], wakes, { now, at });
}

/** The next beat comes anyway; a requested pull comes back when the running cycle has ended. */
function isInTheWay({ kind }: CycleMessage, report: CycleReport): boolean {
  return kind !== "beat" && !report.ran && report.why === "running";
}

/** Its tables were created for this version: the database was replaced since, by an earlier copy or an empty one. */
function isMissing(report: CycleReport): boolean {
  return !report.ran && report.why === "not provisioned";
}

function missing({ pgTable }: Mapping): Failure {
  const remedy = "connect the workspace to its database again, which creates them again";
  return new Failure("CONFLICT", `the database has not what Bridge made in it for the table ${pgTable}; ${remedy}`);
}

/** The database has a later configuration, also than the one that is read now: DynamoDB was restored. */
async function isBehind({ mappings }: MessageNeeds, mapping: Mapping, report: CycleReport): Promise<boolean> {
  if (report.ran || report.why !== "config behind") return false;
  return (await mappings.find(mapping.workspaceId, mapping.id))?.configVersion === mapping.configVersion;
}

const behind = ({ pgTable, configVersion }: Mapping): string =>
  `CONFIG_BEHIND: the database has a later configuration of the table ${pgTable} than version ${configVersion} of DynamoDB, which was restored to an earlier time: nothing is pulled or sent until a person has seen bridge restore plan and run bridge restore accept`;

/** Inactive, or its tables are not made for this version yet: its provisioning sends the first minute itself. */
function isRunnable({ active, deletedAt, provisioning, configVersion }: Mapping): boolean {
  return active && deletedAt === null && provisioning.state === "ready" && provisioning.version === configVersion;
}

function isLate({ kind, slot }: CycleMessage, now: Date): boolean {
  return kind === "beat" && slot !== null && now.getTime() - slot * 1000 > LATE_MILLISECONDS;
}

/** Who polls by hand does not rest. */
function isResting({ kind, wakes }: CycleMessage, { state }: KeptEngine, now: Date): boolean {
  return (kind === "beat" || wakes !== undefined) && state.restUntil !== null && state.restUntil > now;
}
