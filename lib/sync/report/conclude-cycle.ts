import type { Budget } from "../../model/calls/budget.ts";
import { type Event, eventOf } from "../../model/delivery/event.ts";
import {
  afterCycle,
  afterDeath,
  afterLoad,
  type CycleFailure,
  type EngineState,
  type EngineStep,
  inWords,
  isSameState,
  reasonFor,
} from "../../model/engine.ts";
import type { HighWater } from "../../model/high-water.ts";
import { newId } from "../../model/id.ts";
import { afterLook, type Holding, reportHeld } from "../../model/mapping/delete-breaker.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { CycleMessage } from "../../model/messages.ts";
import { causeOf } from "../../model/workspace/incident.ts";
import type { Tally } from "../cycle/cycle.ts";
import type { CycleOrder } from "../cycle/cycle-order.ts";
import type { StopReason } from "../lease/lease-guard.ts";
import type { KeptEngine, MessageNeeds } from "../ports/cycle-ports.ts";

/** The cycle that is reported. */
export interface Reported {
  readonly mapping: Mapping;
  readonly message: CycleMessage;
  readonly engine: KeptEngine;
  readonly budget: Budget;
  readonly saves: CycleOrder["saves"];
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** What a cycle saw. */
interface Seen {
  /** Long work of the mapping is unfinished. */
  readonly owesLoad?: boolean;
  /** Null: it did not come to look. */
  readonly heldDeletes?: number | null;
  /** How many records of a call the org could bear; 0: unknown. */
  readonly callSize?: number;
  /** How far the database was, where its counters could not be written. */
  readonly reached?: HighWater | null;
  readonly isRewound?: boolean;
}

/** Stores how a cycle ended, and reports held deletes when that is due. */
export async function concludeCycle(
  needs: MessageNeeds,
  { mapping, engine, message }: Reported,
  failure: CycleFailure | null,
  { owesLoad = true, heldDeletes = null, callSize = 0, reached = null, isRewound = false }: Seen = {},
): Promise<void> {
  const at = new Date(needs.clock.now());
  const before = withFound(engine.state, { callSize, isRewound }, at);
  const step = afterCycle(before, failure, at, owesLoad);
  const { holding, heldEvent } = holdingAfter(mapping, engine.state.holding, heldDeletes, at);
  const state = { ...step.state, holding, ...(reached && { reached }) };
  const ifBroken = failure && broken(mapping, failure, state.failedCycles, at);
  // When another cycle of this mapping was first, its end stays, and the next one continues from there.
  const isKept = await keepEnd(needs, mapping, engine, { ...step, state }, ifBroken, heldEvent);
  // A poll without a mark is one of these: it sends no others.
  const isFirst = message.kind !== "poll" || message.mark !== undefined;
  if (isKept && step.edge === "recovered" && isFirst) await endRests(needs, mapping, engine.state.lastFailure);
  if (!isKept || !heldEvent) return;
  const level = holding ? "warn" : "info";
  needs.log({ level, event: "deletes held", workspace_id: mapping.workspaceId, ...heldEvent.detail });
}

/** Stores what a stopped cycle has found out. */
export async function keepFound(needs: MessageNeeds, { mapping, engine }: Reported, found: Found): Promise<void> {
  const state = withFound(engine.state, found, new Date(needs.clock.now()));
  await keepEnd(needs, mapping, engine, { state, edge: null }, null);
}

type Found = Required<Pick<Seen, "callSize" | "isRewound">>;

/** That a database was rewound stays until a person accepts it: its fence soon rises above what was kept. */
const withFound = (state: EngineState, { callSize: size, isRewound }: Found, at: Date): EngineState => ({
  ...state,
  ...(size > 0 && { callSize: { size, at } }),
  rewoundAt: state.rewoundAt ?? (isRewound ? at : null),
});

/** What is stored of held deletes, and the event to publish of them now; null: none. */
function holdingAfter(
  { id, workspaceId, sfObject, pgTable, deleteLimit }: Mapping,
  before: Holding | null,
  deletes: number | null,
  at: Date,
): { readonly holding: Holding | null; readonly heldEvent: Event | null } {
  if (deletes === null) return { holding: before, heldEvent: null };
  const { holding, phase } = afterLook(before, deletes, at);
  if (phase === null) return { holding, heldEvent: null };
  const since = (before ?? holding)?.since ?? at;
  const message = holding ? reportHeld(deletes, sfObject, deleteLimit) : `no delete of ${sfObject} is held any more`;
  const mapping = { mapping_id: id, sf_object: sfObject, pg_table: pgTable };
  const detail = { ...mapping, phase, deletes, since: since.toISOString(), message };
  return { holding, heldEvent: eventOf("deletes.held", { ...made(workspaceId, at), detail }) };
}

/** How often a load's end is written again because a cycle of its mapping was faster. */
const TRIES = 5;

/** Stores how one attempt at a load ended: it runs for minutes, so its mapping's state is read only now. */
export async function concludeLoad(needs: MessageNeeds, mapping: Mapping, failure: CycleFailure | null): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { engine } = await needs.engine.read(mapping.workspaceId, mapping.id);
    const at = new Date(needs.clock.now());
    const event = failure && broken(mapping, failure, engine.state.failedLoads + 1, at);
    if (await keepEnd(needs, mapping, engine, afterLoad(engine.state, failure, at), event)) return;
  }
}

/** Stores that the function died while a cycle of the mapping was at work, as one that failed. */
export async function concludeDeath(
  needs: MessageNeeds,
  { workspace_id, mapping_id }: Pick<CycleMessage, "workspace_id" | "mapping_id">,
): Promise<void> {
  const mapping = await needs.mappings.find(workspace_id, mapping_id);
  if (!mapping) return;
  const { engine } = await needs.engine.read(workspace_id, mapping_id);
  const at = new Date(needs.clock.now());
  const deaths = afterDeath(engine.state, at);
  const message = `run-cycle died while a cycle of ${mapping.sfObject} was at work; deaths within a day: ${deaths?.count}`;
  const failure = { reason: "function_died", message } as const;
  needs.log({ level: "error", event: "cycle", workspace_id, mapping_id, sf_object: mapping.sfObject, ...failure });
  const step = afterCycle({ ...engine.state, deaths }, failure, at);
  await keepEnd(needs, mapping, engine, step, broken(mapping, failure, step.state.failedCycles, at));
}

/** An edge is published in the transaction that stores it, and so once. False: the state was another one by then. */
async function keepEnd(
  needs: MessageNeeds,
  mapping: Mapping,
  before: KeptEngine,
  { state, edge }: EngineStep,
  ifBroken: Event | null,
  heldEvent: Event | null = null,
): Promise<boolean> {
  const { engine: memory, announcements, clock } = needs;
  if (isSameState(before.state, state)) return true;
  const events: Event[] = heldEvent ? [heldEvent] : [];
  if (edge === "broken" && ifBroken) events.push(ifBroken);
  if (edge === "recovered") events.push(recovered(mapping, before.state.brokenSince, new Date(clock.now())));
  const isKept = await memory.save(mapping.workspaceId, mapping.id, before, state, events);
  if (isKept && events.length > 0) await announcements.wake(events);
  return isKept;
}

/** Polls the mappings that rest for what has just ended for this one: the org lets them in again, too. */
async function endRests(
  { engine, mappings, queues, clock }: MessageNeeds,
  { id, workspaceId }: Mapping,
  ended: CycleFailure | null,
): Promise<void> {
  if (ended === null || !reasonFor(ended.reason).of || !reasonFor(ended.reason).restSeconds) return;
  const others = (await mappings.listActive(workspaceId)).filter((other) => other.id !== id);
  const states = await Promise.all(
    others.map(async (other) => ({ other, ...(await engine.read(workspaceId, other.id)).engine.state })),
  );
  const resting = states.filter(
    ({ restUntil, lastFailure }) => lastFailure?.reason === ended.reason && Number(restUntil) > clock.now(),
  );
  const pollOf = (mappingId: string) =>
    ({ workspace_id: workspaceId, mapping_id: mappingId, kind: "poll", slot: null }) as const;
  if (resting.length > 0) await queues.cycles.send(resting.map(({ other }) => ({ message: pollOf(other.id) })));
}

function broken(mapping: Mapping, failure: CycleFailure, failedCycles: number, at: Date): Event {
  return eventOf("sync.broken", {
    ...made(mapping.workspaceId, at),
    detail: {
      mapping_id: mapping.id,
      sf_object: mapping.sfObject,
      reason: failure.reason,
      message: inWords(failure),
      ...causeOf(failure, mapping.sfObject),
      since: at.toISOString(),
      failed_cycles: failedCycles,
    },
  });
}

function recovered(mapping: Mapping, since: Date | null, at: Date): Event {
  return eventOf("sync.recovered", {
    ...made(mapping.workspaceId, at),
    detail: {
      mapping_id: mapping.id,
      sf_object: mapping.sfObject,
      broken_since: (since ?? at).toISOString(),
      duration_seconds: Math.round((at.getTime() - (since ?? at).getTime()) / 1000),
    },
  });
}

const made = (workspaceId: string, occurredAt: Date) => ({ id: newId("evt"), workspaceId, occurredAt });

interface End {
  readonly failure: CycleFailure | null;
  readonly error: unknown;
  readonly tally?: Tally;
  readonly stopped?: StopReason | null;
}

/** One line for a cycle that did something or failed; none for an idle one. */
export function logCycle(
  { log, clock }: MessageNeeds,
  { mapping, message, startedAt }: Reported,
  { failure, error, tally, stopped }: End,
): void {
  const did = Object.entries(tally ?? {}).filter(([, count]) => (Array.isArray(count) ? count.length : count) !== 0);
  if (!failure && !stopped && did.length === 0) return;
  log({
    level: failure ? "error" : "info",
    event: "cycle",
    workspace_id: mapping.workspaceId,
    mapping_id: mapping.id,
    sf_object: mapping.sfObject,
    kind: message.kind,
    slot: message.slot,
    duration_ms: clock.now() - startedAt,
    ...Object.fromEntries(did),
    ...(stopped && { stopped }),
    ...failure,
    ...(failure?.reason === "engine_fault" && { stack: error instanceof Error ? error.stack : String(error) }),
  });
}
