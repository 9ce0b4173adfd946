import { randomUUID } from "node:crypto";
import type { Cancel, Clock } from "../../clock.ts";
import { AwsError } from "../aws-error.ts";
import { parseExpression } from "./expression.ts";
import type { ScheduleDefinition } from "./inputs.ts";
import type { Jitter } from "./jitter.ts";
import type { InvocationRow, ScheduleRow, SchedulerStore } from "./store.ts";

/** Hands a message to the target of an ARN. Throws an AwsError when the target does not take it. */
export type Deliver = (targetArn: string, input: string) => void;

interface Needs {
  readonly store: SchedulerStore;
  readonly clock: Clock;
  readonly jitter: Jitter;
  readonly deliver: Deliver;
  /** Receives an occurrence that no queue accepted. */
  readonly onLost: (reason: Error) => void;
  readonly arnOf: (groupName: string, name: string) => string;
}

/** The next occurrence of a schedule and when it fires; both null when it has run its course. */
export interface NextTime {
  readonly occurrence: number | null;
  readonly fireAt: number | null;
}

const DEFAULT_EVENT_AGE_SECONDS = 86_400;
const DEFAULT_RETRIES = 185;
const LONGEST_PAUSE_SECONDS = 60;

/** Makes schedules fire. An occurrence is on disk as an invocation before it is sent, so none is lost and each may repeat. */
export class Firing {
  readonly #needs: Needs;
  #cancel: Cancel = () => {};

  constructor(needs: Needs) {
    this.#needs = needs;
    this.arm();
  }

  /** The first occurrence at or after a time; a rate without start date begins when it was defined. */
  nextTime(arn: string, definition: ScheduleDefinition, from: number, definedAt: number): NextTime {
    const { StartDate, EndDate, State, FlexibleTimeWindow } = definition;
    const start = StartDate === undefined ? definedAt : StartDate * 1000;
    const occurrence = parseExpression(definition.ScheduleExpression).firstFrom(Math.max(from, start), start);
    const isOver = occurrence === null || (EndDate !== undefined && occurrence > EndDate * 1000);
    if (isOver || State === "DISABLED") return { occurrence: null, fireAt: null };
    const windows = FlexibleTimeWindow.Mode === "FLEXIBLE" ? FlexibleTimeWindow.MaximumWindowInMinutes : 1;
    return { occurrence, fireAt: occurrence + this.#needs.jitter(arn, occurrence) * windows * 1000 };
  }

  /** To be called after schedules changed: fires what is due and books the next time. */
  arm(): void {
    const { store, clock } = this.#needs;
    this.#cancel();
    const next = store.nextDue.get()?.at ?? null;
    if (next !== null) this.#cancel = clock.at(next, () => this.#fire());
  }

  close(): void {
    this.#cancel();
  }

  #fire(): void {
    const { store, clock } = this.#needs;
    for (const schedule of store.dueSchedules.all(clock.now())) store.transaction(() => this.#takeOccurrence(schedule));
    for (const invocation of store.dueInvocations.all(clock.now())) this.#invoke(invocation);
    this.arm();
  }

  /** Stores the target's due occurrences and advances the schedule, or deletes one that is complete and wishes it. */
  #takeOccurrence({ group_name, name, definition: json, modified_at, occurrence, fire_at }: ScheduleRow): void {
    const { store, clock, arnOf } = this.#needs;
    if (occurrence === null || fire_at === null) return;
    const definition = JSON.parse(json) as ScheduleDefinition;
    const arn = arnOf(group_name, name);
    const maximumAge = (definition.Target.RetryPolicy?.MaximumEventAgeInSeconds ?? DEFAULT_EVENT_AGE_SECONDS) * 1000;
    if (fire_at + maximumAge >= clock.now()) {
      this.#save({
        execution_id: randomUUID(),
        schedule_arn: arn,
        target: JSON.stringify(definition.Target),
        scheduled_at: occurrence,
        attempt: 1,
        due_at: fire_at,
        gives_up_at: fire_at + maximumAge,
      });
    }
    const longestDelay = fire_at - occurrence + maximumAge; // occurrences missed for longer need not be looked at
    const next = this.nextTime(arn, definition, Math.max(occurrence + 1, clock.now() - longestDelay), modified_at);
    const isComplete = next.occurrence === null && definition.ActionAfterCompletion === "DELETE";
    if (isComplete) store.deleteSchedule.run(group_name, name);
    else store.advance.run(next.occurrence, next.fireAt, group_name, name);
  }

  /** Sends it, or books the next attempt; what can't be sent in its time or in its attempts ends in the dead letters. */
  #invoke(invocation: InvocationRow): void {
    const { store, clock } = this.#needs;
    const { Arn, Input, RetryPolicy, DeadLetterConfig } = JSON.parse(invocation.target) as ScheduleDefinition["Target"];
    const input = filledIn(Input, invocation);
    const isLate = clock.now() > invocation.gives_up_at;
    const refusal = isLate ? "it came too late" : this.#refusal(Arn, input);
    const dueAt = clock.now() + Math.min(2 ** invocation.attempt, LONGEST_PAUSE_SECONDS) * 1000;
    const mayRetry = invocation.attempt <= (RetryPolicy?.MaximumRetryAttempts ?? DEFAULT_RETRIES);
    if (refusal && mayRetry && dueAt <= invocation.gives_up_at) {
      this.#save({ ...invocation, attempt: invocation.attempt + 1, due_at: dueAt });
      return;
    }
    store.deleteInvocation.run(invocation.execution_id);
    if (!refusal) return;
    const lost = DeadLetterConfig?.Arn ? this.#refusal(DeadLetterConfig.Arn, input) : refusal;
    if (lost && !isLate) this.#needs.onLost(new Error(`${invocation.schedule_arn} could not reach ${Arn}: ${refusal}`));
  }

  /** Why a queue does not take the message, or null when it has it. */
  #refusal(arn: string, input: string): string | null {
    try {
      this.#needs.deliver(arn, input);
      return null;
    } catch (error) {
      if (error instanceof AwsError) return error.message;
      throw error;
    }
  }

  #save(invocation: InvocationRow): void {
    const { execution_id, schedule_arn, target, scheduled_at, attempt, due_at, gives_up_at } = invocation;
    this.#needs.store.putInvocation.run(execution_id, schedule_arn, target, scheduled_at, attempt, due_at, gives_up_at);
  }
}

function filledIn(input: string, { schedule_arn, scheduled_at, execution_id, attempt }: InvocationRow): string {
  return input
    .replaceAll("<aws.scheduler.schedule-arn>", schedule_arn)
    .replaceAll("<aws.scheduler.scheduled-time>", new Date(scheduled_at).toISOString().replace(/\.\d+Z$/, "Z"))
    .replaceAll("<aws.scheduler.execution-id>", execution_id)
    .replaceAll("<aws.scheduler.attempt-number>", String(attempt));
}
