import type { Budget } from "../model/budget.ts";
import { afterCycle, type CycleFailure, isSameState } from "../model/engine.ts";
import { type Event, eventOf } from "../model/event.ts";
import { newId } from "../model/id.ts";
import type { Mapping } from "../model/mapping.ts";
import type { CycleMessage } from "../model/messages.ts";
import type { Tally } from "./cycle.ts";
import type { StopReason } from "./hold-lease.ts";
import type { KeptEngine, MessageNeeds } from "./service-ports.ts";

/** The cycle that is reported. */
export interface Reported {
  readonly mapping: Mapping;
  readonly message: CycleMessage;
  readonly engine: KeptEngine;
  readonly budget: Budget;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** Remembers how a cycle ended. Whoever crosses an edge tells it, in the same transaction and so once. */
export async function concludeCycle(
  { engine: memory, announcements, clock }: MessageNeeds,
  reported: Reported,
  failure: CycleFailure | null,
): Promise<void> {
  const { mapping, engine } = reported;
  const at = new Date(clock.now());
  const { state, edge } = afterCycle(engine.state, failure, at);
  if (isSameState(engine.state, state)) return;
  const events: Event[] = [];
  if (edge === "broken" && failure) events.push(broken(reported, failure, state.failedCycles, at));
  if (edge === "recovered") events.push(recovered(reported, engine.state.brokenSince ?? at, at));
  // When another cycle of this mapping was first, its end stands, and the next one goes on from there.
  const isKept = await memory.save(mapping.workspaceId, mapping.id, engine, state, events);
  if (isKept && events.length > 0) await announcements.wake(events);
}

function broken({ mapping }: Reported, { reason, message }: CycleFailure, failedCycles: number, at: Date): Event {
  return eventOf("sync.broken", {
    ...made(mapping.workspaceId, at),
    detail: {
      mapping_id: mapping.id,
      sf_object: mapping.sfObject,
      reason,
      message,
      since: at.toISOString(),
      failed_cycles: failedCycles,
    },
  });
}

function recovered({ mapping }: Reported, since: Date, at: Date): Event {
  return eventOf("sync.recovered", {
    ...made(mapping.workspaceId, at),
    detail: {
      mapping_id: mapping.id,
      sf_object: mapping.sfObject,
      broken_since: since.toISOString(),
      duration_seconds: Math.round((at.getTime() - since.getTime()) / 1000),
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
