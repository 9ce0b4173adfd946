import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  DeleteScheduleGroupCommand,
  GetScheduleCommand,
  ListSchedulesCommand,
  type SchedulerClient,
  type Target,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestCloud, TEST_START, type TestCloud } from "../support/worlds/cloud.ts";

/** Every limit of EventBridge Scheduler that this project relies on, and what the embedded one refuses beyond them. */

const TARGET: Target = {
  Arn: "arn:aws:sqs:eu-local-1:000000000000:ticks",
  RoleArn: "arn:aws:iam::000000000000:role/scheduler",
  Input: "tick",
};
let cloud: TestCloud;
let scheduler: SchedulerClient;

beforeAll(async () => {
  cloud = await startTestCloud();
  scheduler = cloud.clients.scheduler;
  await scheduler.send(schedule({ Name: "taken" }));
});

afterAll(() => cloud.close());

function schedule(more: Partial<CreateScheduleCommandInput> = {}): CreateScheduleCommand {
  return new CreateScheduleCommand({
    Name: "beat",
    ScheduleExpression: "rate(1 minute)",
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: TARGET,
    ...more,
  });
}

const target = (more: Partial<Target>) => schedule({ Target: { ...TARGET, ...more } });
const rate = (ScheduleExpression: string) => schedule({ ScheduleExpression });
const minutesLater = (minutes: number) => new Date(TEST_START.getTime() + minutes * 60_000);

describe("a schedule is refused with ValidationException", () => {
  test.each([
    ["every 10 seconds", () => rate("rate(10 seconds)")],
    ["every 0 minutes", () => rate("rate(0 minutes)")],
    ["every minute and a half", () => rate("rate(1.5 minutes)")],
    ["with a space too many", () => rate("rate( 1 minute )")],
    ["by cron, which the embedded one does not know", () => rate("cron(0 10 * * ? *)")],
    ["at a time that is over", () => rate("at(2026-03-01T11:59:59)")],
    ["at a time with a zone in it", () => rate("at(2026-03-02T12:00:00Z)")],
    ["at a time that does not exist", () => rate("at(2026-02-30T12:00:00)")],
    ["in a time zone other than UTC", () => schedule({ ScheduleExpressionTimezone: "Europe/Berlin" })],
    ["with a name of 65 characters", () => schedule({ Name: "n".repeat(65) })],
    ["with a colon in its name", () => schedule({ Name: "a:b" })],
    ["with a group name of 65 characters", () => schedule({ GroupName: "g".repeat(65) })],
    ["with a flexible window without length", () => schedule({ FlexibleTimeWindow: { Mode: "FLEXIBLE" } })],
    [
      "with a flexible window of 1,441 minutes",
      () => schedule({ FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 1_441 } }),
    ],
    [
      "with a length of a window that is off",
      () => schedule({ FlexibleTimeWindow: { Mode: "OFF", MaximumWindowInMinutes: 5 } }),
    ],
    ["with a retry window under a minute", () => target({ RetryPolicy: { MaximumEventAgeInSeconds: 59 } })],
    ["with a retry window over a day", () => target({ RetryPolicy: { MaximumEventAgeInSeconds: 86_401 } })],
    ["with 186 retries", () => target({ RetryPolicy: { MaximumRetryAttempts: 186 } })],
    ["with a group id for a standard queue", () => target({ SqsParameters: { MessageGroupId: "w" } })],
    ["with a role that is none", () => target({ RoleArn: "scheduler" })],
    ["with a FIFO queue as its target", () => target({ Arn: `${TARGET.Arn}.fifo` })],
    ["with a function as its target", () => target({ Arn: "arn:aws:lambda:eu-local-1:000000000000:function:f" })],
    ["with an input of more than 256 KiB", () => target({ Input: "x".repeat(262_145) })],
    ["that began more than 5 minutes ago", () => schedule({ StartDate: minutesLater(-6) })],
    ["that ends before it starts", () => schedule({ StartDate: minutesLater(10), EndDate: minutesLater(5) })],
    ["with a description of 513 characters", () => schedule({ Description: "d".repeat(513) })],
    [
      "with a key of its own, which the embedded one does not know",
      () => schedule({ KmsKeyArn: "arn:aws:kms:eu-local-1:000000000000:key/k" }),
    ],
  ])("%s", async (_, command) => {
    const before = await schedules();

    await expect(scheduler.send(command())).rejects.toMatchObject({ name: "ValidationException" });

    expect(await schedules()).toEqual(before);
  });

  test("without a word about its time window", async () => {
    const { FlexibleTimeWindow: _, ...input } = schedule().input;

    await expect(scheduler.send(new CreateScheduleCommand(input as CreateScheduleCommandInput))).rejects.toMatchObject({
      name: "ValidationException",
      message: expect.stringContaining("FlexibleTimeWindow"),
    });
  });
});

describe("a schedule is accepted", () => {
  test.each(["rate(1 minute)", "rate(5 minutes)", "rate(1 hour)", "rate(365 days)", "at(2026-03-01T12:00:30)"])(
    "%s",
    async (ScheduleExpression) => {
      const Name = ScheduleExpression.replaceAll(/[^a-z0-9]/g, "-");

      const { ScheduleArn } = await scheduler.send(schedule({ Name, ScheduleExpression }));

      expect(ScheduleArn).toBe(`arn:aws:scheduler:eu-local-1:000000000000:schedule/default/${Name}`);
    },
  );

  test("with a name of 64 characters", async () => {
    const Name = "n".repeat(64);

    await scheduler.send(schedule({ Name }));

    expect((await scheduler.send(new GetScheduleCommand({ Name }))).Name).toBe(Name);
  });
});

describe("what is not there, or is there already, has its own name", () => {
  test.each([
    ["a second schedule of the same name", () => schedule({ Name: "taken" }), "ConflictException"],
    [
      "a schedule in a group that does not exist",
      () => schedule({ GroupName: "nowhere" }),
      "ResourceNotFoundException",
    ],
    [
      "reading a schedule that does not exist",
      () => new GetScheduleCommand({ Name: "none" }),
      "ResourceNotFoundException",
    ],
    [
      "changing a schedule that does not exist",
      () => new UpdateScheduleCommand({ ...schedule().input, Name: "none" }),
      "ResourceNotFoundException",
    ],
    [
      "deleting a schedule that does not exist",
      () => new DeleteScheduleCommand({ Name: "none" }),
      "ResourceNotFoundException",
    ],
    ["a second group of the same name", () => new CreateScheduleGroupCommand({ Name: "default" }), "ConflictException"],
    ["deleting the default group", () => new DeleteScheduleGroupCommand({ Name: "default" }), "ValidationException"],
    [
      "deleting a group that does not exist",
      () => new DeleteScheduleGroupCommand({ Name: "none" }),
      "ResourceNotFoundException",
    ],
    ["a page of 101 schedules", () => new ListSchedulesCommand({ MaxResults: 101 }), "ValidationException"],
  ])("%s", async (_, command, name) => {
    const before = await schedules();

    await expect(scheduler.send(command() as CreateScheduleCommand)).rejects.toMatchObject({ name });

    expect(await schedules()).toEqual(before);
  });
});

/** All schedules, and one of them as it is. */
async function schedules() {
  const { Schedules } = await scheduler.send(new ListSchedulesCommand({}));
  const { $metadata: _, ...taken } = await scheduler.send(new GetScheduleCommand({ Name: "taken" }));
  return { Schedules, taken };
}
