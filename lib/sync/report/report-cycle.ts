import { afterAnswer, endsBy, tellBudget } from "../../model/budget.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { CycleMessage } from "../../model/messages.ts";
import type { CycleStore, MessageNeeds, Salesforce } from "../cycle/cycle-ports.ts";
import type { Totals } from "../lease/lease-ports.ts";
import type { CycleReport } from "../run-cycle.ts";
import { concludeCycle, keepCallSize, logCycle, type Reported } from "./conclude-cycle.ts";
import { failureOf } from "./cycle-failure.ts";
import { emptyOutbox } from "./empty-outbox.ts";
import { figuresOf, UNBEGUN } from "./figures.ts";

/** Long work that nobody may be at is asked for again this often. */
const LOAD_EVERY_SECONDS = 300;

/** The org's count is written down this often while it does not change what we may ask. */
const BUDGET_EVERY_MILLISECONDS = 60_000;

interface Ended extends Reported {
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

/** Tells what a cycle did: its events leave, its totals are told, the engine remembers how it ended, the log gets a line. */
export async function reportCycle(needs: MessageNeeds, ended: Ended, report: CycleReport): Promise<void> {
  if (!report.ran) return;
  const rests = ended.saves === "none";
  const failure = report.error !== null ? failureOf(report.error) : null;
  logCycle(needs, ended, { failure, ...report });
  // A cycle that was stopped, or sent nothing because saves rest, has proved nothing good.
  if (failure || (report.stopped === null && !rests)) {
    const { needsLoad: owesLoad, heldDeletes } = report;
    await concludeCycle(needs, ended, failure, { owesLoad, heldDeletes, callSize: report.tally.callSize });
  } else if (report.tally.callSize > 0) await keepCallSize(needs, ended, report.tally.callSize);
  await keepBudget(needs, ended);
  needs.figures(figuresOf(report, report.totals, ended.usage));
  if (report.totals && isTimeToTell(ended.message, report)) await tellTotals(needs, ended, report.totals);
  // After an outage at once: a load that it has failed keeps the mapping broken until it goes on.
  const recovers = !failure && !rests && report.stopped === null && ended.engine.state.failedCycles > 0;
  if (report.needsLoad && (recovers || isRare(ended.message))) await askForLoad(needs, ended.mapping);
  if (report.outboxWaits && ended.store) await emptyOutbox(needs, ended.mapping.workspaceId, ended.store);
}

/** Written when the step changes or a minute after the last time, so that idle cycles write nothing. A change is logged once. */
async function keepBudget(
  { engine, clock, log }: MessageNeeds,
  { mapping, budget, usage: told }: Ended,
): Promise<void> {
  if (!told) return;
  const usage = { ...told, at: new Date(clock.now()) };
  const after = afterAnswer(budget, usage);
  const age = usage.at.getTime() - (budget.usage?.at.getTime() ?? 0);
  if (after.step === budget.step && age < BUDGET_EVERY_MILLISECONDS) return;
  if (!(await engine.saveBudget(mapping.workspaceId, after))) return;
  log({
    level: after.step > 0 ? "warn" : "info",
    event: "budget",
    workspace_id: mapping.workspaceId,
    calls_used: usage.used,
    calls_limit: usage.limit,
    ends_by: endsBy(after)?.toISOString() ?? null,
    message: tellBudget(after),
  });
}

/** On change, and with the first slot of each minute. */
function isTimeToTell({ slot }: CycleMessage, { tally }: Ran): boolean {
  return tally.accepted + tally.refused > 0 || slot === null || slot % 60 < 10;
}

async function tellTotals({ counters, clock }: MessageNeeds, { mapping, startedAt }: Reported, totals: Totals) {
  const { workspaceId, id: mappingId, sfObject } = mapping;
  const { rowsSynced, rowsFailed, apiCalls, queueDepth } = totals;
  const told = { workspaceId, mappingId, sfObject, rowsSynced, rowsFailed, apiCalls };
  await counters.set(told, new Date(startedAt));
  await counters.setQueueDepth({ workspaceId, rows: queueDepth }, new Date(clock.now()));
}

function isRare({ slot }: CycleMessage): boolean {
  return slot === null || slot % LOAD_EVERY_SECONDS < 10;
}

async function askForLoad({ queues }: MessageNeeds, { workspaceId, id }: Mapping): Promise<void> {
  const message = { workspace_id: workspaceId, mapping_id: id, kind: "load" } as const;
  await queues.loads.send([{ message }]);
}
