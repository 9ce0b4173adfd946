import { afterAnswer, type Budget } from "../model/budget.ts";
import { afterCycle, type CycleFailure, isSameState } from "../model/engine.ts";
import type { Event } from "../model/event.ts";
import { newId } from "../model/id.ts";
import type { Mapping } from "../model/mapping.ts";
import type { CycleMessage } from "../model/messages.ts";
import { failureOf } from "./cycle-failure.ts";
import type { CycleStore, Salesforce, Totals } from "./ports.ts";
import type { CycleReport } from "./run-cycle.ts";
import type { KeptEngine, MessageNeeds } from "./service-ports.ts";

/** Events that leave the outbox at a time. */
const OUTBOX_PAGE = 100;

/** A first load that nobody is at is asked for again this often. */
const LOAD_EVERY_SECONDS = 300;

/** The cycle that is reported. */
export interface Reported {
  readonly mapping: Mapping;
  readonly message: CycleMessage;
  readonly engine: KeptEngine;
  readonly budget: Budget;
  readonly store: CycleStore;
  readonly salesforce: Salesforce;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

type Report = CycleReport | { readonly failedToBegin: unknown };

/** Tells what a cycle did: its events leave, its totals are told, the engine remembers how it ended, the log gets a line. */
export async function reportCycle(needs: MessageNeeds, reported: Reported, report: Report): Promise<void> {
  if ("failedToBegin" in report) return conclude(needs, reported, failureOf(report.failedToBegin), report);
  if (!report.ran) return;

  const failure = report.error === null ? heldDeletes(report) : failureOf(report.error);
  if (report.stopped === null || failure) await conclude(needs, reported, failure, report);
  else log(needs, reported, failure, report);
  await keepBudget(needs, reported);
  if (report.totals && isTimeToTell(reported.message, report)) {
    await tellTotals(needs, reported.mapping, report.totals);
  }
  if (report.needsLoad && isRare(reported.message)) await askForLoad(needs, reported.mapping);
  if (report.outboxWaits) await emptyOutbox(needs, reported);
}

type Ran = Extract<CycleReport, { readonly ran: true }>;

function heldDeletes({ tally }: Ran): CycleFailure | null {
  if (tally.heldDeletes === 0) return null;
  const message = `${tally.heldDeletes} deletes are held back: more than the breaker lets pass in an hour; confirm them or restore the rows`;
  return { reason: "deletes_held", message };
}

/** Remembers how the cycle ended; whoever crosses an edge tells it, once. */
async function conclude(
  needs: MessageNeeds,
  reported: Reported,
  failure: CycleFailure | null,
  report: Report,
): Promise<void> {
  log(needs, reported, failure, report);
  const { mapping, engine } = reported;
  const at = new Date(needs.clock.now());
  const { state, edge } = afterCycle(engine.state, failure, at);
  if (isSameState(engine.state, state)) return;
  const events = edge ? [edgeEvent(reported, edge, failure, state.failedCycles, at)] : [];
  // Another cycle of this mapping was first: its end stands, and the next cycle starts from there.
  if (!(await needs.engine.save(mapping.workspaceId, mapping.id, engine, state, events))) return;
  if (events.length > 0) await needs.announcements.wake(events);
}

function edgeEvent(
  { mapping, engine }: Reported,
  edge: "broken" | "recovered",
  failure: CycleFailure | null,
  failedCycles: number,
  at: Date,
): Event {
  const about = { mapping_id: mapping.id, sf_object: mapping.sfObject };
  const since = engine.state.brokenSince ?? at;
  const detail =
    edge === "broken"
      ? { ...about, ...failure, since: at.toISOString(), failed_cycles: failedCycles }
      : {
          ...about,
          broken_since: since.toISOString(),
          duration_seconds: Math.round((at.getTime() - since.getTime()) / 1000),
        };
  return { id: newId("evt"), workspaceId: mapping.workspaceId, event: `sync.${edge}`, occurredAt: at, detail };
}

/** Written when the step changes or a minute after the last time, so that idle cycles write nothing. */
async function keepBudget({ engine, clock }: MessageNeeds, { mapping, budget, salesforce }: Reported): Promise<void> {
  const told = salesforce.usage();
  if (!told) return;
  const at = new Date(clock.now());
  const usage = { ...told, at };
  const after = afterAnswer(budget, usage);
  const age = budget.usage ? at.getTime() - budget.usage.at.getTime() : Number.POSITIVE_INFINITY;
  if (after.step === budget.step && age < 60_000) return;
  await engine.saveBudget(mapping.workspaceId, { ...after, usage });
}

async function tellTotals({ counters }: MessageNeeds, mapping: Mapping, { queueDepth, ...totals }: Totals) {
  const { workspaceId, id: mappingId, sfObject } = mapping;
  await counters.set({ workspaceId, mappingId, sfObject, ...totals });
  await counters.setQueueDepth({ workspaceId, rows: queueDepth });
}

/** On change, and with the first slot of each minute. */
function isTimeToTell({ slot }: CycleMessage, { tally }: Ran): boolean {
  return tally.accepted + tally.refused > 0 || slot === null || slot % 60 < 10;
}

function isRare({ slot }: CycleMessage): boolean {
  return slot === null || slot % LOAD_EVERY_SECONDS < 10;
}

async function askForLoad({ queues }: MessageNeeds, { workspaceId, id }: Mapping): Promise<void> {
  const message = { workspace_id: workspaceId, mapping_id: id, kind: "load" } as const;
  await queues.sendLoads([{ message, delaySeconds: 0 }]);
}

/** Events that were committed with their rows leave for the service's own store, and only then are they forgotten. */
async function emptyOutbox({ announcements }: MessageNeeds, { mapping, store }: Reported): Promise<void> {
  for (;;) {
    const waiting = await store.outbox(OUTBOX_PAGE);
    if (waiting.length === 0) return;
    await announcements.publish(waiting.map((event) => ({ ...event, workspaceId: mapping.workspaceId })));
    await store.forget(waiting.map(({ id }) => id));
    if (waiting.length < OUTBOX_PAGE) return;
  }
}

/** One line for a cycle that did something or failed; none for an idle one. */
function log(
  needs: MessageNeeds,
  { mapping, message, startedAt }: Reported,
  failure: CycleFailure | null,
  report: Report,
) {
  const did =
    "tally" in report ? Object.entries(report.tally).filter(([, count]) => count !== 0 && String(count) !== "") : [];
  if (!failure && did.length === 0 && !("stopped" in report && report.stopped)) return;
  needs.log({
    level: failure ? "error" : "info",
    event: "cycle",
    workspace_id: mapping.workspaceId,
    mapping_id: mapping.id,
    sf_object: mapping.sfObject,
    kind: message.kind,
    slot: message.slot,
    duration_ms: needs.clock.now() - startedAt,
    ...Object.fromEntries(did),
    ...("stopped" in report && report.stopped && { stopped: report.stopped }),
    ...(failure && { reason: failure.reason, message: failure.message }),
    ...(failure?.reason === "engine_fault" && { stack: stackOf(report) }),
  });
}

function stackOf(report: Report): string {
  const error = "failedToBegin" in report ? report.failedToBegin : "error" in report ? report.error : null;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
