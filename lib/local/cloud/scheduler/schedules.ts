import type { Clock } from "../../clock.ts";
import { conflict, invalid, notFound } from "./errors.ts";
import { parseExpression } from "./expression.ts";
import type { Firing } from "./firing.ts";
import type { ScheduleDefinition } from "./inputs.ts";
import type { ScheduleRow, SchedulerStore } from "./store.ts";

interface Needs {
  readonly store: SchedulerStore;
  readonly clock: Clock;
  readonly firing: Firing;
  readonly arnOf: (groupName: string, name: string) => string;
}

const EARLIEST_START_MINUTES = 5;

/** Makes a schedule. Throws ConflictException when the group has one of this name. */
export function createSchedule(needs: Needs, name: string, definition: ScheduleDefinition): { ScheduleArn: string } {
  const { store, clock } = needs;
  check(definition, clock.now());
  const { GroupName } = definition;
  if (!store.group.get(GroupName)) throw notFound("Schedule group", GroupName);
  if (store.schedule.get(GroupName, name)) throw conflict(`Schedule ${name} already exists.`);
  return put(needs, name, definition, clock.now());
}

/** Replaces a schedule as a whole: what is left out goes back to its default. A rate begins again. */
export function updateSchedule(needs: Needs, name: string, definition: ScheduleDefinition): { ScheduleArn: string } {
  check(definition, needs.clock.now());
  return put(needs, name, definition, existing(needs.store, definition.GroupName, name).created_at);
}

export function deleteSchedule({ store, firing }: Needs, groupName: string, name: string): void {
  existing(store, groupName, name);
  store.deleteSchedule.run(groupName, name);
  firing.arm();
}

/** A schedule with everything that its maker said and every default. Times are epoch seconds. */
export function getSchedule({ store, arnOf }: Needs, groupName: string, name: string) {
  const row = existing(store, groupName, name);
  const { ClientToken: _, Target, ...definition } = JSON.parse(row.definition) as ScheduleDefinition;
  const RetryPolicy = { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185, ...Target.RetryPolicy };
  return {
    ...definition,
    Name: name,
    Arn: arnOf(groupName, name),
    CreationDate: row.created_at / 1000,
    LastModificationDate: row.modified_at / 1000,
    Target: { ...Target, RetryPolicy },
  };
}

/** What a list of schedules says of each. Times are epoch seconds. */
export function summaryOf({ arnOf }: Needs, row: ScheduleRow) {
  const { State, Target } = JSON.parse(row.definition) as ScheduleDefinition;
  return {
    Arn: arnOf(row.group_name, row.name),
    GroupName: row.group_name,
    Name: row.name,
    State,
    CreationDate: row.created_at / 1000,
    LastModificationDate: row.modified_at / 1000,
    Target: { Arn: Target.Arn },
  };
}

function existing(store: SchedulerStore, groupName: string, name: string): ScheduleRow {
  const row = store.schedule.get(groupName, name);
  if (!row) throw notFound("Schedule", name);
  return row;
}

function put({ store, clock, firing, arnOf }: Needs, name: string, definition: ScheduleDefinition, createdAt: number) {
  const { GroupName } = definition;
  const now = clock.now();
  const arn = arnOf(GroupName, name);
  const { occurrence, fireAt } = firing.nextTime(arn, definition, now, now);
  store.putSchedule.run(GroupName, name, JSON.stringify(definition), createdAt, now, occurrence, fireAt);
  firing.arm();
  return { ScheduleArn: arn };
}

function check({ ScheduleExpression, StartDate, EndDate, Target }: ScheduleDefinition, now: number): void {
  const expression = parseExpression(ScheduleExpression);
  if (expression.isOneTime && expression.firstFrom(now, now) === null) {
    throw invalid(`Invalid Schedule Expression ${ScheduleExpression}: the time is in the past.`);
  }
  if (StartDate !== undefined && StartDate * 1000 < now - EARLIEST_START_MINUTES * 60_000) {
    throw invalid("The StartDate you specify cannot be earlier than 5 minutes ago.");
  }
  if (EndDate !== undefined && EndDate * 1000 <= Math.max(now, (StartDate ?? 0) * 1000)) {
    throw invalid("The EndDate you specify must come after the StartDate and must be in the future.");
  }
  for (const arn of [Target.Arn, Target.DeadLetterConfig?.Arn]) {
    if (arn !== undefined && !/^arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,80}$/.test(arn)) {
      throw invalid(
        `Provided Arn is not in correct format, or is no standard SQS queue, the only target here: ${arn}.`,
      );
    }
  }
  if (Target.SqsParameters?.MessageGroupId !== undefined) {
    throw invalid("MessageGroupId cannot be set for a standard queue; fan out from a function instead.");
  }
}
