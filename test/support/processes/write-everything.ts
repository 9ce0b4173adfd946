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

/** A writer on the cloud that the environment names at each call, for tests that kill it in between. */
const QueueName = "killed";
const TableName = "killed";
const once = { maxAttempts: 1 };

const queueUrl = async (client: SQSClient) => (await client.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl;
let writer: SQSClient;
let items: DynamoDBClient;

export const sqs = {
  /** A queue with one message in flight for an hour and one delayed by a quarter of one. */
  async prepare(): Promise<void> {
    writer = new SQSClient(once);
    const Attributes = { VisibilityTimeout: "3600" };
    const { QueueUrl } = await writer.send(new CreateQueueCommand({ QueueName, Attributes }));
    await writer.send(new SendMessageCommand({ QueueUrl, MessageBody: "in flight" }));
    await writer.send(new ReceiveMessageCommand({ QueueUrl }));
    await writer.send(new SendMessageCommand({ QueueUrl, MessageBody: "delayed", DelaySeconds: 900 }));
  },
  /** Sends ten messages and gives their number once they are acknowledged. */
  async sendTen(): Promise<number> {
    const Entries = Array.from({ length: 10 }, (_, index) => ({ Id: String(index), MessageBody: `message ${index}` }));
    const { Successful } = await writer.send(
      new SendMessageBatchCommand({ QueueUrl: await queueUrl(writer), Entries }),
    );
    return Successful?.length ?? 0;
  },
  async counts(): Promise<{ visible: number; delayed: number; inFlight: number }> {
    const client = new SQSClient({});
    const QueueUrl = await queueUrl(client);
    const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["All"] }));
    return {
      visible: Number(Attributes?.["ApproximateNumberOfMessages"]),
      delayed: Number(Attributes?.["ApproximateNumberOfMessagesDelayed"]),
      inFlight: Number(Attributes?.["ApproximateNumberOfMessagesNotVisible"]),
    };
  },
};

export const dynamodb = {
  async prepare(): Promise<void> {
    items = new DynamoDBClient(once);
    await items.send(
      new CreateTableCommand({
        TableName,
        BillingMode: "PAY_PER_REQUEST",
        KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
        AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
      }),
    );
  },
  async put(id: number): Promise<void> {
    await items.send(new PutItemCommand({ TableName, Item: { id: { N: String(id) } } }));
  },
  async count(): Promise<number> {
    let found = 0;
    for await (const { Count = 0 } of paginateScan({ client: new DynamoDBClient({}) }, { TableName })) found += Count;
    return found;
  },
};

export const scheduler = {
  async prepare(): Promise<void> {
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
  },
  async names(): Promise<Array<string | undefined>> {
    const { Schedules } = await new SchedulerClient({}).send(new ListSchedulesCommand({}));
    return Schedules?.map(({ Name }) => Name) ?? [];
  },
};
