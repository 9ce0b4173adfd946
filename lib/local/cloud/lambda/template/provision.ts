import type { Cloud } from "../../start-cloud.ts";
import type { Assembly } from "./assembly.ts";
import { resourcesOfType } from "./functions.ts";
import type { Resolve } from "./resolve.ts";

/**
 * Makes the local cloud hold what the templates define: tables, queues with their dead letters, the schedule group and
 * the stacks' own schedules; the key comes with the first reference to it. What is there already stays as it is, its settings brought up to date.
 */
export async function provision(cloud: Cloud, assembly: Assembly, resolve: Resolve): Promise<void> {
  provisionQueues(cloud, assembly, resolve);
  provisionSchedules(cloud, assembly, resolve);
  await provisionTables(cloud, assembly, resolve);
}

function provisionSchedules({ scheduler }: Cloud, assembly: Assembly, resolve: Resolve): void {
  const groups = resourcesOfType<{ Name: string }>(assembly, resolve, "AWS::Scheduler::ScheduleGroup");
  for (const { properties } of groups) scheduler.ensureGroup(properties.Name);
  const schedules = resourcesOfType<Record<string, unknown>>(assembly, resolve, "AWS::Scheduler::Schedule");
  for (const { properties } of schedules) scheduler.ensureSchedule(properties);
}

async function provisionTables(cloud: Cloud, assembly: Assembly, resolve: Resolve): Promise<void> {
  const tables = resourcesOfType<{ TableName?: string }>(assembly, resolve, "AWS::DynamoDB::Table");
  for (const { id, properties } of tables) {
    await cloud.dynamodb.ensureTable({ ...properties, TableName: properties.TableName ?? id });
  }
}

interface QueueProperties {
  readonly QueueName: string;
  readonly RedrivePolicy?: object;
  readonly Tags?: unknown;
  readonly [attribute: string]: unknown;
}

function provisionQueues(cloud: Cloud, assembly: Assembly, resolve: Resolve): void {
  const queues = resourcesOfType<QueueProperties>(assembly, resolve, "AWS::SQS::Queue").map(
    ({ properties }) => properties,
  );
  // A queue can only name dead letters that exist.
  for (const properties of queues.filter(({ RedrivePolicy }) => !RedrivePolicy)) ensureQueue(cloud, properties);
  for (const properties of queues.filter(({ RedrivePolicy }) => RedrivePolicy)) ensureQueue(cloud, properties);
}

function ensureQueue({ sqs }: Cloud, { QueueName, Tags: _, ...settings }: QueueProperties): void {
  const Attributes = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      typeof value === "object" ? JSON.stringify(value) : String(value),
    ]),
  );
  const [existing] = sqs.actions
    .ListQueues({ QueueNamePrefix: QueueName })
    .QueueUrls.filter((url) => url.endsWith(`/${QueueName}`));
  if (existing === undefined) sqs.actions.CreateQueue({ QueueName, Attributes });
  else sqs.actions.SetQueueAttributes({ QueueUrl: existing, Attributes });
}
