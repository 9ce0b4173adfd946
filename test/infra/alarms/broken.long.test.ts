import { CancelKeyDeletionCommand, EnableKeyCommand, KMSClient, ScheduleKeyDeletionCommand } from "@aws-sdk/client-kms";
import {
  GetScheduleCommand,
  ListSchedulesCommand,
  SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { PurgeQueueCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { database } from "../../../functions/services/composition.ts";
import { workspaceKey } from "../../../lib/adapters/dynamodb/access/workspace-key.ts";
import { QUEUES, WORKERS } from "../../../lib/model/resources.ts";
import { DEPLOYMENT } from "../../../lib/model/workspace/pause.ts";
import { synthesizeFixtures } from "../assembly.ts";
import { type Customer, type MeasuredBridge, startMeasuredBridge } from "./measured-bridge.ts";
import { readOutages } from "./outages.ts";
import { bySeries, type ReadAlarm, readAlarm, ringsAt } from "./read-alarm.ts";

/** Breaks parts of the running instance, and evaluates the template's own alarms over what was measured. */

let bridge: MeasuredBridge;
let alarms: readonly ReadAlarm[];
/** Only the last tests have customers: each minute of theirs has a dozen cycles. */
let one: Customer;
let other: Customer;

beforeAll(async () => {
  const { all } = await synthesizeFixtures();
  alarms = all("AWS::CloudWatch::Alarm").map(({ Properties }) => readAlarm(Properties));
  bridge = await startMeasuredBridge();
  await bridge.pass(10);
}, 3_600_000);

afterAll(() => bridge?.close(), 120_000);

const LINES = readOutages().filter(({ isBroken }) => isBroken);
const tried = new Set<string>();

/** Names of the alarms that ring between two minutes. */
const ringing = (from: number, until: number) => {
  const samples = bySeries(bridge.samples);
  return alarms
    .filter((alarm) => ringsAt(alarm, samples, until).some((end) => end > from))
    .map(({ name }) => name.replace("bridge-dev-", ""));
};

type Mend = () => unknown;

/** Breaks something, and expects of each of these outages that its alarm rings within its minutes. */
async function expectToRing(outages: readonly string[], breakIt: () => Mend | Promise<Mend>): Promise<void> {
  const lines = LINES.filter(({ outage }) => outages.includes(outage));
  expect(lines).toHaveLength(outages.length);
  const began = bridge.minute;
  const mend = await breakIt();
  await bridge.pass(Math.max(...lines.map(({ minutes }) => minutes)));
  const samples = bySeries(bridge.samples);
  for (const { outage, alarm, minutes } of lines) {
    const named = alarms.find(({ name }) => name === `bridge-dev-${alarm}`);
    const ends = named ? ringsAt(named, samples, bridge.minute) : [];
    expect.soft(ends.filter((end) => end > began && end <= began + minutes).length, outage).toBeGreaterThan(0);
    tried.add(outage);
  }
  await mend();
  await bridge.pass(20);
}

const urlOf = (queue: string) => `${bridge.cloud.endpoints.sqs}/${bridge.cloud.accountId}/bridge-dev-${kebab(queue)}`;

const send = (queue: keyof typeof QUEUES, MessageBody: string) =>
  new SQSClient().send(new SendMessageCommand({ QueueUrl: urlOf(queue), MessageBody }));

/** Empties every queue and its dead letters. */
const purge = () =>
  Promise.all(
    QUEUE_NAMES.flatMap((name) => [name, `${name}-dead`]).map((name) =>
      new SQSClient().send(new PurgeQueueCommand({ QueueUrl: urlOf(name) })),
    ),
  );

const QUEUE_NAMES = Object.keys(QUEUES) as (keyof typeof QUEUES)[];

const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

vi.setConfig({ testTimeout: 3_600_000 });

test("half an hour without customers and without an outage rings none", async () => {
  const began = bridge.minute;
  await bridge.pass(30);

  expect(ringing(began, bridge.minute)).toEqual([]);
});

/** Stops the schedules of a group; the answer starts them again. */
async function stopSchedules(GroupName: string): Promise<Mend> {
  const scheduler = new SchedulerClient();
  const { Schedules = [] } = await scheduler.send(new ListSchedulesCommand({ GroupName }));
  const switchTo = async (State: "ENABLED" | "DISABLED") => {
    for (const { Name } of Schedules) {
      const { ScheduleExpression, FlexibleTimeWindow, Target } = await scheduler.send(
        new GetScheduleCommand({ GroupName, Name }),
      );
      await scheduler.send(
        new UpdateScheduleCommand({ Name, GroupName, ScheduleExpression, FlexibleTimeWindow, Target, State }),
      );
    }
  };
  await switchTo("DISABLED");
  return () => switchTo("ENABLED");
}

async function stopDatabase(): Promise<Mend> {
  const name = new URL(one.database.url).pathname.slice(1);
  const allow = (isUp: boolean) => other.database.asSuperuser(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS ${isUp}`);
  await allow(false);
  await other.database.asSuperuser(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  return () => allow(true);
}

test("the key", () =>
  expectToRing(["the key is disabled, or will be deleted"], async () => {
    const KeyId = bridge.cloud.kms.ensureKey("alias/bridge-dev");
    const kms = new KMSClient();
    await kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }));
    return async () => {
      await kms.send(new CancelKeyDeletionCommand({ KeyId }));
      await kms.send(new EnableKeyCommand({ KeyId }));
    };
  }));

test("a bad bundle of each worker, and metrics that are lost", async () => {
  const workers = Object.keys(WORKERS).filter((name) => !/slow|retry/.test(name));
  await expectToRing(
    workers.map((name) => `a bad bundle of \`${name}\``),
    async () => {
      const mend = bridge.kill((name) => workers.includes(name.replace("bridge-dev-", "")));
      for (const queue of QUEUE_NAMES) await send(queue, "{}");
      return mend;
    },
  );
  await expectToRing(["Bridge's log lines do not become metrics any more"], () => bridge.dropFigures());
});

test("a load that kills load-mapping, and a sweep of which a part fails", async () => {
  const outages = ["a load makes `load-mapping` run out of memory", "a part of the minute sweep fails each time"];
  await expectToRing(outages, async () => {
    const Key = workspaceKey(DEPLOYMENT);
    const TableName = database().table("workspaces");
    const mend = bridge.kill((name, event) => name.endsWith("load-mapping") && event.includes("large"));
    await send("loads", JSON.stringify({ workspace_id: "ws", mapping_id: "large", kind: "load" }));
    await database().client.send(new PutCommand({ TableName, Item: { ...Key, created_at: "unreadable" } }));
    return async () => {
      mend();
      await database().client.send(new DeleteCommand({ TableName, Key }));
    };
  });
});

test("a poisoned message in each queue", () =>
  expectToRing(
    QUEUE_NAMES.map((name) => `a poisoned message in \`${kebab(name)}\``),
    async () => {
      await Promise.all(QUEUE_NAMES.map((name) => send(name, "poison")));
      return purge;
    },
  ));

test("all schedules stop", () => expectToRing(["EventBridge Scheduler stops"], () => stopSchedules("default")));

test("with customers, half an hour without an outage rings none", async () => {
  one = await bridge.addCustomer();
  other = await bridge.addCustomer();
  await bridge.pass(10);
  const began = bridge.minute;
  await bridge.pass(30);

  expect(ringing(began, bridge.minute)).toEqual([]);
});

test("the schedules of the mappings stop, and of one customer the database, the org and a function that it kills", async () => {
  await expectToRing(["the mappings' schedules stop, the sweep runs and sends their beats"], () =>
    stopSchedules("bridge-dev"),
  );
  await expectToRing(["one database of many is down"], stopDatabase);
  await expectToRing(["one org of many refuses its user"], async () => {
    await one.org.control("POST", "/faults", { kind: "refusedGrant", path: "oauth2/token", times: 0 });
    await one.org.control("DELETE", "/sessions");
    return () => one.org.control("DELETE", "/faults");
  });
  await expectToRing(["one mapping makes `run-cycle` run out of memory"], () =>
    bridge.kill((name, event) => name.endsWith("run-cycle") && event.includes(one.workspaceId)),
  );
});

test("each line that says so was broken here", () => {
  expect([...tried].sort()).toEqual(LINES.map(({ outage }) => outage).sort());
});
