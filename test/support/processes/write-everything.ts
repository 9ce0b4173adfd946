import { CreateTableCommand, DynamoDBClient, PutItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import { CreateScheduleCommand, ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";

const QueueName = "killed";
const TableName = "killed";

/**
 * A writer on the cloud that the environment names, for tests that kill it in between: with a table, a schedule, and a
 * queue with one message in flight for an hour and one delayed by a quarter of one.
 */
export async function startWriter() {
  const once = { maxAttempts: 1 };
  const [sqs, items] = [new SQSClient(once), new DynamoDBClient(once)];
  const Attributes = { VisibilityTimeout: "3600" };
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "in flight" }));
  await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "delayed", DelaySeconds: 900 }));
  await items.send(
    new CreateTableCommand({
      TableName,
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
    }),
  );
  await new SchedulerClient(once).send(
    new CreateScheduleCommand({
      Name: "beat",
      ScheduleExpression: "rate(1 day)",
      FlexibleTimeWindow: { Mode: "OFF" },
      State: "DISABLED",
      Target: {
        Arn: "arn:aws:sqs:eu-local-1:000000000000:killed",
        RoleArn: "arn:aws:iam::000000000000:role/scheduler",
        Input: "tick",
      },
    }),
  );
  const Entries = Array.from({ length: 10 }, (_, at) => ({ Id: String(at), MessageBody: `message ${at}` }));
  return {
    /** Sends ten messages and gives their number once they are acknowledged. */
    sendTen: async () => (await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }))).Successful?.length ?? 0,
    put: (id: number) => items.send(new PutItemCommand({ TableName, Item: { id: { N: String(id) } } })),
  };
}

/** What is there of it on the cloud that the environment names now. */
export async function countWritten() {
  const sqs = new SQSClient({});
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
  let items = 0;
  for await (const { Count = 0 } of paginateScan({ client: new DynamoDBClient({}) }, { TableName })) items += Count;
  const { Schedules = [] } = await new SchedulerClient({}).send(new ListSchedulesCommand({}));
  return {
    visible: Number(Attributes?.["ApproximateNumberOfMessages"]),
    delayed: Number(Attributes?.["ApproximateNumberOfMessagesDelayed"]),
    inFlight: Number(Attributes?.["ApproximateNumberOfMessagesNotVisible"]),
    items,
    schedules: Schedules.map(({ Name }) => Name),
  };
}
