import { allHours, hoursOf, lastChange } from "../../model/calls/account.ts";
import {
  afterPlan,
  type Budget,
  type PlannedBudget,
  paceOf,
  pullSeconds,
  reportBudget,
  type Usage,
} from "../../model/calls/budget.ts";
import { queriesOf } from "../../model/calls/forecast.ts";
import { restOf } from "../../model/calls/next-pull.ts";
import { planCalls, rungPullAt } from "../../model/calls/plan.ts";
import { isMissed } from "../../model/doorbell.ts";
import { type HighWater, keepHighWater } from "../../model/high-water.ts";
import { type Mapping, pulls } from "../../model/mapping/mapping.ts";
import type { CycleMessage } from "../../model/messages.ts";
import type { CycleReport } from "../cycle/cycle-order.ts";
import type { CycleStore, MessageNeeds, Salesforce } from "../ports/cycle-ports.ts";
import type { Totals } from "../ports/lease-ports.ts";
import { concludeCycle, keepFound, logCycle, type Reported } from "./conclude-cycle.ts";
import { failureOf } from "./cycle-failure.ts";
import { emptyOutbox } from "./empty-outbox.ts";
import { figuresOf, UNBEGUN } from "./figures.ts";

/** Long work that may have no worker is asked for again this often. */
const LOAD_EVERY_SECONDS = 300;

/** A new plan is computed this often. */
const BUDGET_EVERY_MILLISECONDS = 60_000;

interface Ended extends Reported {
  /** How far the database has been by what is kept, newest first; left out: of an idle beat. */
  readonly highWater?: readonly HighWater[];
  /** Null: an idle beat leaves no event. */
  readonly store: CycleStore | null;
  readonly usage: ReturnType<Salesforce["usage"]>;
}

type Ran = Extract<CycleReport, { readonly ran: true }>;

/** A cycle that could not begin, for want of a database or of an org. */
export async function reportUnbegun(needs: MessageNeeds, reported: Reported, error: unknown): Promise<void> {
  const failure = failureOf(error);
  logCycle(needs, reported, { failure, error });
  await concludeCycle(needs, reported, failure);
  needs.figures(UNBEGUN);
}

/** Reports a cycle: its events leave, its totals are counted, the engine stores how it ended, the log gets a line. */
export async function reportCycle(needs: MessageNeeds, ended: Ended, report: CycleReport): Promise<void> {
  if (!report.ran) return;
  const rests = ended.saves === "none";
  const found = { callSize: report.tally.callSize, isRewound: report.rewind === "rewound" };
  const failure = report.error !== null ? failureOf(report.error) : null;
  logCycle(needs, ended, { failure, ...report });
  // A cycle that was stopped, or sent nothing because saves rest, has proved nothing good.
  if (failure || (report.stopped === null && !rests)) {
    const { needsLoad: owesLoad, heldDeletes } = report;
    const reached = failure && reachedBy(needs, report);
    await concludeCycle(needs, ended, failure, { owesLoad, heldDeletes, ...found, reached });
  } else await keepFound(needs, ended, found);
  needs.figures(figuresOf(report, report.totals, ended.usage));
  const { totals } = report;
  if (totals && isTimeToTell(ended.message, report)) await reportTotals(needs, ended, { ...report, totals });
  await keepBudget(needs, ended);
  await judgeDoorbell(needs, ended, report);
  // After an outage at once: a load that it has failed keeps the mapping broken until it continues.
  const recovers = !failure && !rests && report.stopped === null && ended.engine.state.failedCycles > 0;
  if (report.needsLoad && (recovers || isRare(ended.message))) await askForLoad(needs, ended.mapping);
  if (report.outboxWaits && ended.store) await emptyOutbox(needs, ended.mapping.workspaceId, ended.store);
}

/** A change that was found without a ring says that the mapping's doorbell is dead. Nothing rings for a delete. */
async function judgeDoorbell({ engine, clock, log }: MessageNeeds, ended: Ended, { tally }: Ran): Promise<void> {
  const { mapping, message, budget } = ended;
  const at = new Date(clock.now());
  const isFound = message.wakes !== "pull" && tally.inserted + tally.updated > 0;
  const isHeard = rungPullAt(budget.plan, null, at) !== null; // else polls find what was rung for
  if (!isFound || !isHeard || !isMissed(budget.doorbell, mapping, at)) return;
  await engine.noteMissed(mapping.workspaceId, mapping.id, at);
  log({
    level: "warn",
    event: "doorbell",
    workspace_id: mapping.workspaceId,
    mapping_id: mapping.id,
    message: `a change of ${mapping.sfObject} came without a ring: unless one comes now, it is polled at its full pace until the next; see that its flow is active in the org`,
  });
}

/** Plans again a minute after the last time, by the org's last count and our own. A change of pace is logged once. */
async function keepBudget(needs: MessageNeeds, { mapping, budget, usage: counted }: Ended): Promise<void> {
  const at = new Date(needs.clock.now());
  const usage = counted ? { ...counted, at } : budget.usage;
  const age = at.getTime() - (budget.plan?.at.getTime() ?? 0);
  if (usage === null || age < BUDGET_EVERY_MILLISECONDS) return;
  const make = () => planAnew(needs, mapping.workspaceId, budget, usage);
  const after = await needs.engine.saveBudget(mapping.workspaceId, make);
  if (after === null) return;
  needs.log({
    level: after.since === null ? "info" : "warn",
    event: "budget",
    workspace_id: mapping.workspaceId,
    calls_used: usage.used,
    calls_limit: usage.limit,
    own_calls: after.plan.used,
    pace: paceOf(after.plan),
    pace_seconds: after.plan.paceSeconds,
    message: reportBudget(after),
  });
}

async function planAnew(
  { counters, mappings, clock }: MessageNeeds,
  workspaceId: string,
  budget: Budget,
  usage: Usage,
): Promise<PlannedBudget> {
  const [kept, active] = await Promise.all([counters.hours(workspaceId), mappings.listActive(workspaceId)]);
  const now = new Date(clock.now());
  const byMapping = new Map(kept.map(({ mappingId, hours }) => [mappingId, hoursOf(hours)]));
  const hours = allHours([...byMapping.values()]);
  const asking = active
    .filter(({ syncDirection }) => pulls(syncDirection))
    .map((mapping) => {
      const rest = restOf(budget, mapping, lastChange(byMapping.get(mapping.id) ?? []), now);
      return { everySeconds: pullSeconds({ ...budget, plan: null }, mapping, rest), queries: queriesOf(mapping) };
    });
  return afterPlan(budget, usage, planCalls({ now, usage, share: budget.share, hours, mappings: asking }));
}

/** On change, and with the first slot of each minute. */
function isTimeToTell({ slot }: CycleMessage, { tally }: Ran): boolean {
  return tally.accepted + tally.refused > 0 || slot === null || slot % 60 < 10;
}

const reachedBy = ({ clock }: MessageNeeds, { reached }: Ran): HighWater | null =>
  reached && { ...reached, at: new Date(clock.now()) };

/** The positions to keep with the totals; of a restored database none: a person accepts its position first. */
function highWaterAfter(needs: MessageNeeds, { highWater }: Ended, report: Ran): readonly HighWater[] | undefined {
  const reached = reachedBy(needs, report);
  if (highWater === undefined || reached === null || report.rewind === "rewound") return undefined;
  return keepHighWater(report.rewind === "tail" ? [] : highWater, reached);
}

async function reportTotals(needs: MessageNeeds, ended: Ended, report: Ran & { readonly totals: Totals }) {
  const { counters, clock } = needs;
  const { workspaceId, id: mappingId, sfObject } = ended.mapping;
  const { rowsSynced, rowsFailed, apiCalls, queueDepth, oldestWaitingSeconds: age } = report.totals;
  const countedAt = new Date(clock.now());
  const oldestAt = age !== null && age > 0 ? new Date(countedAt.getTime() - age * 1000) : null;
  const sums = { workspaceId, mappingId, sfObject, rowsSynced, rowsFailed, apiCalls };
  await counters.set(sums, new Date(ended.startedAt), highWaterAfter(needs, ended, report));
  if (queueDepth !== null) await counters.setQueueDepth({ workspaceId, rows: queueDepth, oldestAt }, countedAt);
}

function isRare({ slot }: CycleMessage): boolean {
  return slot === null || slot % LOAD_EVERY_SECONDS < 10;
}

async function askForLoad({ queues }: MessageNeeds, { workspaceId, id }: Mapping): Promise<void> {
  const message = { workspace_id: workspaceId, mapping_id: id, kind: "load" } as const;
  await queues.loads.send([{ message }]);
}
