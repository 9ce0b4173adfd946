import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  DeleteScheduleGroupCommand,
  GetScheduleCommand,
  GetScheduleGroupCommand,
  ListScheduleGroupsCommand,
  ListSchedulesCommand,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { slotsOf, TICK_SECONDS } from "../../../lib/model/beat.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { startTestCloud, TEST_START, type TestCloud } from "../../support/worlds/cloud.ts";

const ROLE = "arn:aws:iam::000000000000:role/bridge/scheduler";
const JITTER_SECONDS = 7;

let cloud: TestCloud;
let queueUrl: string;

beforeEach(async () => {
  cloud = await startTestCloud({ jitter: () => JITTER_SECONDS });
  queueUrl = await createQueue(cloud);
});

afterEach(() => cloud.close());

async function createQueue(on: TestCloud): Promise<string> {
  return String((await on.clients.sqs.send(new CreateQueueCommand({ QueueName: "ticks" }))).QueueUrl);
}

function schedule(more: Partial<CreateScheduleCommandInput> = {}, input = "tick"): CreateScheduleCommandInput {
  return {
    Name: "beat",
    ScheduleExpression: "rate(1 minute)",
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: { Arn: "arn:aws:sqs:eu-local-1:000000000000:ticks", RoleArn: ROLE, Input: input },
    ...more,
  };
}

const create = (input: CreateScheduleCommandInput) => cloud.clients.scheduler.send(new CreateScheduleCommand(input));

/** What has reached the queue since the last check. */
async function arrived(on: TestCloud = cloud, url: string = queueUrl): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await on.sqs.actions.ReceiveMessage(
      { QueueUrl: url, MaxNumberOfMessages: 10 },
      new AbortController().signal,
    );
    if (Messages.length === 0) return bodies;
    for (const { Body, ReceiptHandle } of Messages) {
      bodies.push(Body);
      on.sqs.actions.DeleteMessage({ QueueUrl: url, ReceiptHandle });
    }
  }
}

describe("a rate", () => {
  test("begins at once and comes back every period, each time within its minute", async () => {
    await create(schedule({}, "<aws.scheduler.scheduled-time>"));

    await cloud.clock.advance({ seconds: JITTER_SECONDS - 1 });
    expect(await arrived()).toEqual([]);
    await cloud.clock.advance({ seconds: 1 });
    expect(await arrived()).toEqual(["2026-03-01T12:00:00Z"]);

    await cloud.clock.advance({ minutes: 3 });
    expect(await arrived()).toEqual(["2026-03-01T12:01:00Z", "2026-03-01T12:02:00Z", "2026-03-01T12:03:00Z"]);
  });

  longTest("fires 0 to 59 seconds after its time, not always the same", async () => {
    const honest = await startTestCloud();
    const url = await createQueue(honest);
    await honest.clients.scheduler.send(new CreateScheduleCommand(schedule()));
    const firedAt: number[] = [];
    for (let second = 0; second < 20 * 60; second++) {
      if ((await arrived(honest, url)).length > 0) firedAt.push(second);
      await honest.clock.advance({ seconds: 1 });
    }
    await honest.close();

    expect(firedAt.map((second) => Math.floor(second / 60))).toEqual([...Array(20).keys()]);
    expect(new Set(firedAt.map((second) => second % 60)).size).toBeGreaterThan(5);
  });

  longTest("shows its target when, which execution, which attempt and which schedule it is", async () => {
    const input = JSON.stringify({
      at: "<aws.scheduler.scheduled-time>",
      execution: "<aws.scheduler.execution-id>",
      attempt: "<aws.scheduler.attempt-number>",
      schedule: "<aws.scheduler.schedule-arn>",
    });
    const { ScheduleArn } = await create(schedule({}, input));

    await cloud.clock.advance({ seconds: 59 });

    expect(JSON.parse((await arrived())[0] ?? "null")).toEqual({
      at: "2026-03-01T12:00:00Z",
      execution: expect.stringMatching(/^[0-9a-f-]{36}$/),
      attempt: "1",
      schedule: ScheduleArn,
    });
  });

  longTest("waits for its start date and stops at its end date", async () => {
    const at = (minutes: number) => new Date(TEST_START.getTime() + minutes * 60_000);
    await create(schedule({ StartDate: at(10), EndDate: at(12) }, "<aws.scheduler.scheduled-time>"));

    await cloud.clock.advance({ hours: 1 });

    expect(await arrived()).toEqual(["2026-03-01T12:10:00Z", "2026-03-01T12:11:00Z", "2026-03-01T12:12:00Z"]);
  });

  test("is silent while it is disabled and after it is deleted", async () => {
    await create(schedule({ State: "DISABLED" }));
    await cloud.clock.advance({ minutes: 5 });
    expect(await arrived()).toEqual([]);

    await cloud.clients.scheduler.send(new UpdateScheduleCommand(schedule({ State: "ENABLED" })));
    await cloud.clock.advance({ seconds: 59 });
    expect(await arrived()).toEqual(["tick"]);

    await cloud.clients.scheduler.send(new DeleteScheduleCommand({ Name: "beat" }));
    await cloud.clock.advance({ minutes: 5 });
    expect(await arrived()).toEqual([]);
  });

  longTest("keeps its new rhythm after an update", async () => {
    await create(schedule());
    await cloud.clock.advance({ minutes: 1, seconds: 30 });
    await arrived();

    const update = schedule({ ScheduleExpression: "rate(5 minutes)" }, "<aws.scheduler.scheduled-time>");
    await cloud.clients.scheduler.send(new UpdateScheduleCommand(update));
    await cloud.clock.advance({ minutes: 11 });

    expect(await arrived()).toEqual(["2026-03-01T12:01:30Z", "2026-03-01T12:06:30Z", "2026-03-01T12:11:30Z"]);
  });
});

describe("a one-time schedule", () => {
  test("fires once, and goes when it was asked to", async () => {
    await create(schedule({ ScheduleExpression: "at(2026-03-01T13:00:00)", ActionAfterCompletion: "DELETE" }));

    await cloud.clock.advance({ days: 2 });

    expect(await arrived()).toEqual(["tick"]);
    await expect(cloud.clients.scheduler.send(new GetScheduleCommand({ Name: "beat" }))).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
  });
});

describe("a target that cannot be reached", () => {
  const toNowhere = (more: object) => ({
    ...schedule({ ScheduleExpression: "at(2026-03-01T12:01:00)" }).Target,
    Arn: "arn:aws:sqs:eu-local-1:000000000000:later",
    RoleArn: ROLE,
    Input: "attempt <aws.scheduler.attempt-number>",
    ...more,
  });

  test("is tried again until it can", async () => {
    await create(schedule({ ScheduleExpression: "at(2026-03-01T12:01:00)", Target: toNowhere({}) }));
    await cloud.clock.advance({ minutes: 1, seconds: JITTER_SECONDS + 1 });
    const { QueueUrl } = await cloud.clients.sqs.send(new CreateQueueCommand({ QueueName: "later" }));

    await cloud.clock.advance({ minutes: 1 });

    expect(await arrived(cloud, String(QueueUrl))).toEqual(["attempt 2"]);
  });

  longTest("ends in the dead letters when it takes too long", async () => {
    const Target = toNowhere({
      RetryPolicy: { MaximumEventAgeInSeconds: 60 },
      DeadLetterConfig: { Arn: "arn:aws:sqs:eu-local-1:000000000000:ticks" },
    });
    await create(schedule({ ScheduleExpression: "at(2026-03-01T12:01:00)", Target }));

    await cloud.clock.advance({ minutes: 3 });

    expect(await arrived()).toHaveLength(1);
  });
});

describe("while the machine was down", () => {
  async function missedFor(
    minutes: number,
    maximumAge: number,
    ScheduleExpression = "rate(1 minute)",
  ): Promise<string[]> {
    const dataDir = temporaryFolder();
    const { clock } = cloud;
    const before = await startTestCloud({ dataDir, clock, jitter: () => 0 });
    const url = await createQueue(before);
    const { Target } = schedule({}, "<aws.scheduler.scheduled-time>");
    const RetryPolicy = { MaximumEventAgeInSeconds: maximumAge };
    await before.clients.scheduler.send(
      new CreateScheduleCommand(
        schedule({ ScheduleExpression, Target: { Arn: "", RoleArn: ROLE, ...Target, RetryPolicy } }),
      ),
    );
    await clock.advance({ seconds: 30 });
    await arrived(before, url);
    await before.close();
    await clock.advance({ minutes });

    const after = await startTestCloud({ dataDir, clock, jitter: () => 0 });
    await clock.settle();
    const late = await arrived(after, url);
    await after.close();
    return late;
  }

  longTest("a tick that was missed by less than its maximum age is sent late", async () => {
    expect(await missedFor(1, 60)).toEqual(["2026-03-01T12:01:00Z"]);
  });

  test("ticks that are older than that are dropped", async () => {
    expect(await missedFor(24 * 60, 60)).toEqual(["2026-03-02T12:00:00Z"]);
  });

  longTest("with a longer maximum age all of its ticks arrive, late", async () => {
    expect(await missedFor(10, 86_400)).toHaveLength(10);
  });

  test("the ticks of a beat that are sent late name each of its slots from now to those of the next tick", async () => {
    const ticks = await missedFor(30, TICK_SECONDS, "cron(0/5 * * * ? *)");
    const now = new Date(cloud.clock.now());
    const next = new Date(new Date(ticks.at(-1) ?? 0).getTime() + 300_000);

    const slots = [...ticks.map((tick) => new Date(tick)), next].flatMap((tick) => slotsOf(tick, 0, now));

    const [first, ...others] = slots.map(({ slot }) => slot).filter((slot) => slot * 1000 >= now.getTime());
    expect((first ?? Number.POSITIVE_INFINITY) - now.getTime() / 1000).toBeLessThanOrEqual(10);
    expect(others).toEqual(others.map((_, index) => (first ?? 0) + (index + 1) * 10));
    expect(next.getTime()).toBeGreaterThan(now.getTime());
  });
});

describe("schedules and groups", () => {
  test("are answered as they were created, with every default", async () => {
    await create(schedule({ Description: "every minute" }));

    const found = await cloud.clients.scheduler.send(new GetScheduleCommand({ Name: "beat" }));

    expect(found).toMatchObject({
      Arn: "arn:aws:scheduler:eu-local-1:000000000000:schedule/default/beat",
      GroupName: "default",
      Name: "beat",
      Description: "every minute",
      State: "ENABLED",
      ActionAfterCompletion: "NONE",
      ScheduleExpressionTimezone: "UTC",
      CreationDate: TEST_START,
      LastModificationDate: TEST_START,
      Target: { RoleArn: ROLE, RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 } },
    });
  });

  longTest("are listed by group, prefix and page", async () => {
    const { scheduler } = cloud.clients;
    await scheduler.send(new CreateScheduleGroupCommand({ Name: "bridge" }));
    for (const Name of ["m-1", "m-2", "m-3", "other"]) await create(schedule({ Name, GroupName: "bridge" }));
    await create(schedule({ Name: "m-0" }));

    const first = await scheduler.send(
      new ListSchedulesCommand({ GroupName: "bridge", NamePrefix: "m-", MaxResults: 2 }),
    );
    const second = await scheduler.send(
      new ListSchedulesCommand({ GroupName: "bridge", NamePrefix: "m-", MaxResults: 2, NextToken: first.NextToken }),
    );

    const names = [...(first.Schedules ?? []), ...(second.Schedules ?? [])].map(({ Name }) => Name);
    expect(names).toEqual(["m-1", "m-2", "m-3"]);
    expect(second.NextToken).toBeUndefined();
  });

  longTest("go with their group", async () => {
    const { scheduler } = cloud.clients;
    await scheduler.send(new CreateScheduleGroupCommand({ Name: "bridge" }));
    await create(schedule({ GroupName: "bridge" }));

    await scheduler.send(new DeleteScheduleGroupCommand({ Name: "bridge" }));
    await cloud.clock.advance({ minutes: 5 });

    expect(await arrived()).toEqual([]);
    const groups = await scheduler.send(new ListScheduleGroupsCommand({}));
    expect(groups.ScheduleGroups?.map(({ Name }) => Name)).toEqual(["default"]);
    await expect(scheduler.send(new GetScheduleGroupCommand({ Name: "bridge" }))).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
  });

  longTest("are created once however often the same request arrives", async () => {
    const first = await create(schedule({ ClientToken: "request-1" }));
    const again = await create(schedule({ ClientToken: "request-1" }));

    expect(again.ScheduleArn).toBe(first.ScheduleArn);
    await expect(create(schedule({ ClientToken: "request-1", Name: "another" }))).rejects.toMatchObject({
      name: "ConflictException",
    });
  });
});
