import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { startTestCloud, type TestCloud } from "../../support/worlds/cloud.ts";

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

test("a rate begins at once and comes back every period, each time within its minute, until it is switched off", async () => {
  await create(schedule({}, "<aws.scheduler.scheduled-time>"));

  await cloud.clock.advance({ seconds: JITTER_SECONDS - 1 });
  expect(await arrived()).toEqual([]);
  await cloud.clock.advance({ seconds: 1 });
  expect(await arrived()).toEqual(["2026-03-01T12:00:00Z"]);
  await cloud.clock.advance({ minutes: 3 });
  expect(await arrived()).toEqual(["2026-03-01T12:01:00Z", "2026-03-01T12:02:00Z", "2026-03-01T12:03:00Z"]);

  const change = (more: object) =>
    cloud.clients.scheduler.send(new UpdateScheduleCommand(schedule(more, "<aws.scheduler.scheduled-time>")));
  await change({ State: "DISABLED" });
  await cloud.clock.advance({ minutes: 5 });
  expect(await arrived()).toEqual([]);
  await change({ ScheduleExpression: "rate(5 minutes)" });
  await cloud.clock.advance({ minutes: 11 });
  expect(await arrived()).toEqual(["2026-03-01T12:08:07Z", "2026-03-01T12:13:07Z", "2026-03-01T12:18:07Z"]);
  await cloud.clients.scheduler.send(new DeleteScheduleCommand({ Name: "beat" }));
  await cloud.clock.advance({ minutes: 10 });
  expect(await arrived()).toEqual([]);
});

test.each([
  ["less than its maximum age late is sent", 1, 60, ["2026-03-01T12:01:00Z"]],
  ["older than that is dropped", 24 * 60, 60, ["2026-03-02T12:00:00Z"]],
  ["of ten with a longer maximum age arrives", 10, 86_400, expect.objectContaining({ length: 10 })],
])("while the machine was down, a tick that is %s", async (_, minutes, MaximumEventAgeInSeconds, ticks) => {
  const dataDir = temporaryFolder();
  const { clock } = cloud;
  const before = await startTestCloud({ dataDir, clock, jitter: () => 0 });
  const url = await createQueue(before);
  const { Target } = schedule({}, "<aws.scheduler.scheduled-time>");
  const RetryPolicy = { MaximumEventAgeInSeconds };
  await before.clients.scheduler.send(
    new CreateScheduleCommand(schedule({ Target: { Arn: "", RoleArn: ROLE, ...Target, RetryPolicy } })),
  );
  await clock.advance({ seconds: 30 });
  await arrived(before, url);
  await before.close();
  await clock.advance({ minutes });

  const after = await startTestCloud({ dataDir, clock, jitter: () => 0 });
  await clock.settle();
  const late = await arrived(after, url);
  await after.close();

  expect(late).toEqual(ticks);
});
