import type * as z from "zod/mini";
import type { Clock } from "../../clock.ts";
import { AwsError } from "../aws-error.ts";
import type { RestService } from "../rest-service.ts";
import { invalid } from "./errors.ts";
import { type Deliver, Firing } from "./firing.ts";
import { createGroup, DEFAULT_GROUP, deleteGroup, getGroup, groupSummary } from "./groups.ts";
import * as inputs from "./inputs.ts";
import { type Jitter, withinTheMinute } from "./jitter.ts";
import { oncePerToken } from "./once-per-token.ts";
import { createSchedule, deleteSchedule, getSchedule, summaryOf, updateSchedule } from "./schedules.ts";
import { openSchedulerStore } from "./store.ts";

/** Where the schedules live, and how their messages leave. */
export interface SchedulerSettings {
  readonly file: string;
  readonly clock: Clock;
  readonly region: string;
  readonly accountId: string;
  readonly deliver: Deliver;
  /** Receives an occurrence that no queue accepted. */
  readonly onLost: (reason: Error) => void;
  /** How late occurrences fire; 0 to 59 seconds as on AWS unless given. */
  readonly jitter?: Jitter;
}

/** EventBridge Scheduler with SQS queues as targets. */
export interface Scheduler {
  readonly service: RestService;
  /** Makes a group unless it is there. */
  ensureGroup(name: string): void;
  /** Makes or changes a schedule to be as given, in the words of CreateSchedule; one that is so already keeps its rhythm. */
  ensureSchedule(schedule: Readonly<Record<string, unknown>>): void;
  close(): void;
}

/** Opens the schedules of one file; what came due meanwhile fires at once, or not at all when it is too old. */
export function openScheduler(settings: SchedulerSettings): Scheduler {
  const { file, clock, region, accountId, deliver, onLost, jitter = withinTheMinute } = settings;
  const store = openSchedulerStore(file);
  const base = `arn:aws:scheduler:${region}:${accountId}`;
  const arnOf = (groupName: string, name: string) => `${base}:schedule/${groupName}/${name}`;
  const groupArnOf = (name: string) => `${base}:schedule-group/${name}`;
  const firing = new Firing({ store, clock, jitter, deliver, onLost, arnOf });
  const needs = { store, clock, firing, arnOf, groupArnOf };
  if (!store.group.get(DEFAULT_GROUP)) store.putGroup.run(DEFAULT_GROUP, "[]", clock.now(), clock.now());
  return {
    service: {
      signingName: "scheduler",
      answers: (path) => /^\/(schedules|schedule-groups)(\/|$)/.test(path),
      call: (method, url, body) => route(needs, method, url, body),
    },
    ensureGroup(name) {
      if (!store.group.get(name)) createGroup(needs, name, []);
    },
    ensureSchedule: (schedule) => ensureSchedule(needs, schedule),
    close() {
      firing.close();
      store.close();
    },
  };
}

type Needs = Parameters<typeof createSchedule>[0] & Parameters<typeof createGroup>[0];

function ensureSchedule(needs: Needs, { Name, ...rest }: Readonly<Record<string, unknown>>): void {
  const name = parsed(inputs.nameInput, Name, "Name");
  const definition = parsed(inputs.scheduleInput, rest);
  const existing = needs.store.schedule.get(definition.GroupName, name);
  if (existing?.definition === JSON.stringify(definition)) return;
  const put = existing ? updateSchedule : createSchedule;
  put(needs, name, definition);
}

function route(needs: Needs, method: string, url: URL, body: unknown): unknown {
  const [, kind, encoded] = url.pathname.split("/");
  const query = Object.fromEntries(url.searchParams);
  const name =
    encoded === undefined || encoded === "" ? null : parsed(inputs.nameInput, decodeURIComponent(encoded), "Name");
  const isGroup = kind === "schedule-groups";
  if (name === null) {
    if (method === "GET") return isGroup ? listGroups(needs, query) : listSchedules(needs, query);
    throw unknown(method, url);
  }
  return isGroup
    ? routeGroup(needs, method, url, name, query, body)
    : routeSchedule(needs, method, url, name, query, body);
}

function routeSchedule(needs: Needs, method: string, url: URL, name: string, query: unknown, body: unknown): unknown {
  if (method === "POST" || method === "PUT") {
    const { ClientToken, ...definition } = parsed(inputs.scheduleInput, body);
    const put = method === "POST" ? createSchedule : updateSchedule;
    return oncePerToken(needs, ClientToken, [method, name, definition], () => put(needs, name, definition));
  }
  const { groupName, clientToken } = parsed(inputs.oneScheduleInput, query);
  if (method === "GET") return getSchedule(needs, groupName, name);
  if (method !== "DELETE") throw unknown(method, url);
  return (
    oncePerToken(needs, clientToken, [method, groupName, name], () => deleteSchedule(needs, groupName, name)) ?? {}
  );
}

function routeGroup(needs: Needs, method: string, url: URL, name: string, query: unknown, body: unknown): unknown {
  if (method === "POST") {
    const { ClientToken, Tags } = parsed(inputs.groupInput, body);
    return oncePerToken(needs, ClientToken, ["POST group", name, Tags], () => createGroup(needs, name, Tags));
  }
  const { clientToken } = parsed(inputs.oneGroupInput, query);
  if (method === "GET") return getGroup(needs, name);
  if (method !== "DELETE") throw unknown(method, url);
  return oncePerToken(needs, clientToken, ["DELETE group", name], () => deleteGroup(needs, name)) ?? {};
}

/** One row more than the page has: it shows whether there is a next page. */
function listSchedules(needs: Needs, query: unknown) {
  const { ScheduleGroup, State, NamePrefix, MaxResults, NextToken } = parsed(inputs.listSchedulesInput, query);
  const [afterGroup = "", afterName = ""] = NextToken.split("/");
  const found = needs.store.schedules.all({
    afterGroup,
    afterName,
    prefix: NamePrefix,
    group: ScheduleGroup ?? null,
    state: State ?? null,
    most: MaxResults + 1,
  });
  const page = found.slice(0, MaxResults);
  const last = page.at(-1);
  const next = found.length > MaxResults && last ? { NextToken: `${last.group_name}/${last.name}` } : {};
  return { Schedules: page.map((row) => summaryOf(needs, row)), ...next };
}

function listGroups(needs: Needs, query: unknown) {
  const { NamePrefix, MaxResults, NextToken } = parsed(inputs.listGroupsInput, query);
  const found = needs.store.groups.all().filter(({ name }) => name.startsWith(NamePrefix) && name > NextToken);
  const page = found.slice(0, MaxResults);
  const last = page.at(-1);
  const next = found.length > MaxResults && last ? { NextToken: last.name } : {};
  return { ScheduleGroups: page.map((row) => groupSummary(needs, row)), ...next };
}

function parsed<Schema extends z.ZodMiniType>(schema: Schema, value: unknown, parameter = ""): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const problems = result.error.issues.map(
    ({ path, message }) => `${[parameter, ...path].filter(Boolean).join(".")}: ${message}`,
  );
  throw invalid(`${problems.length} validation error(s) detected: ${problems.join("; ")}`);
}

function unknown(method: string, url: URL): AwsError {
  return new AwsError("UnknownOperationException", `${method} ${url.pathname} is not part of the embedded cloud.`, {
    status: 404,
  });
}
