import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { BatchWriteCommand, DynamoDBDocumentClient, UpdateCommand } from "@aws-sdk/lib-dynamodb";

/** Calls at once, and messages in each: those of `deliver-webhook`. */
export const FLOOR_CALLS = 20;
const MESSAGES = 10;

/** One event for one receiver. */
export interface FloorEvent {
  readonly id: string;
  readonly body: string;
}

/** Deliveries without any of our code. */
export interface Floor {
  /** Puts these events into the queue. */
  publish(events: readonly FloorEvent[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * What a delivery costs at the least: a loop over the SDK alone that receives, signs both ways, posts, and makes the same
 * five DynamoDB writes as Bridge (event kept, delivery kept, claimed and done, event forgotten) in the same tables and
 * processes. It reads nothing, judges nothing and tries nothing again. Each call takes up to so many events.
 */
export async function startFloor(url: string, eventsInCall: number): Promise<Floor> {
  const sqs = new SQSClient({});
  const database = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: `floor-${randomUUID()}` }));
  const secret = Buffer.from(randomUUID());
  const stopping = new AbortController();

  const writeAll = (table: string, requests: readonly object[]) =>
    database.send(new BatchWriteCommand({ RequestItems: { [tableOf(table)]: requests as never } }));
  const keep = (table: string, items: readonly object[]) =>
    writeAll(
      table,
      items.map((Item) => ({ PutRequest: { Item } })),
    );
  const update = (pk: string, status: string) =>
    database.send(
      new UpdateCommand({
        TableName: tableOf("DELIVERIES"),
        Key: { pk },
        UpdateExpression: "SET listed = :listed, version = version + :one",
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: { ":listed": JSON.stringify({ id: pk, status }), ":one": 1 },
      }),
    );

  const deliver = async ({ id, body }: FloorEvent) => {
    await update(`floor_${id}`, "claimed");
    await post(url, id, body, secret);
    await update(`floor_${id}`, "done");
  };
  const call = async () => {
    const asked = { QueueUrl, MaxNumberOfMessages: eventsInCall, WaitTimeSeconds: 1 };
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(asked));
    if (Messages.length === 0) return;
    const events = Messages.map(({ Body = "" }) => JSON.parse(Body) as FloorEvent);
    const listed = { webhook_id: "floor", listed: "{}", version: 0 };
    const at = new Date().toISOString();
    await keep(
      "DELIVERIES",
      events.map(({ id, body }) => ({ ...listed, pk: `floor_${id}`, listed_at: `${at}#${id}`, body })),
    );
    await Promise.all(events.map(deliver));
    await writeAll(
      "EVENTS",
      events.map(({ id }) => ({ DeleteRequest: { Key: { pk: "floor", sk: id } } })),
    );
    const Entries = Messages.map(({ ReceiptHandle = "" }, at) => ({ Id: String(at), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  };
  const loops = Array.from({ length: FLOOR_CALLS }, async () => {
    while (!stopping.signal.aborted) await call().catch(() => pause(100));
  });

  return {
    publish: async (events) => {
      for (let from = 0; from < events.length; from += MESSAGES) {
        const some = events.slice(from, from + MESSAGES);
        await keep(
          "EVENTS",
          some.map(({ id, body }) => ({ pk: "floor", sk: id, detail: body })),
        );
        const Entries = some.map((event, at) => ({ Id: String(at), MessageBody: JSON.stringify(event) }));
        await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
      }
    },
    close: async () => {
      stopping.abort();
      await Promise.all(loops);
      await sqs.send(new DeleteQueueCommand({ QueueUrl }));
    },
  };
}

async function post(url: string, id: string, body: string, secret: Buffer): Promise<void> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "x-bridge-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  };
  const [response] = (await once(request(url, { method: "POST", headers, agent: false }).end(body), "response")) as [
    IncomingMessage,
  ];
  await once(response.resume(), "end");
}

const tableOf = (name: string): string => process.env[`TABLE_${name}`] ?? "";
