import * as z from "zod/mini";

/** What every action accepts. A parameter that is not listed is refused, where AWS would ignore it. */

const text = z.string();
const integer = z.int();
const texts = z.record(text, text);
const QueueUrl = text;

const messageAttribute = z.strictObject({
  DataType: text,
  StringValue: z.optional(text),
  BinaryValue: z.optional(text),
});

/** A message's own attributes by name; binary values are base64. */
const messageAttributes = z.record(text, messageAttribute);

const message = {
  MessageBody: text,
  DelaySeconds: z.optional(integer),
  MessageAttributes: z.optional(messageAttributes),
  MessageSystemAttributes: z.optional(messageAttributes),
  MessageGroupId: z.optional(text),
  MessageDeduplicationId: z.optional(text),
};

const outgoing = z.strictObject(message);
const outgoingEntry = z.strictObject({ Id: text, ...message });
const handleEntry = z.strictObject({ Id: text, ReceiptHandle: text });
const visibilityEntry = z.strictObject({ Id: text, ReceiptHandle: text, VisibilityTimeout: z.optional(integer) });

export const inputs = {
  CreateQueue: z.strictObject({ QueueName: text, Attributes: z.optional(texts), tags: z.optional(texts) }),
  DeleteQueue: z.strictObject({ QueueUrl }),
  GetQueueUrl: z.strictObject({ QueueName: text, QueueOwnerAWSAccountId: z.optional(text) }),
  ListQueues: z.strictObject({
    QueueNamePrefix: z.optional(text),
    MaxResults: z.optional(integer),
    NextToken: z.optional(text),
  }),
  GetQueueAttributes: z.strictObject({ QueueUrl, AttributeNames: z.optional(z.array(text)) }),
  SetQueueAttributes: z.strictObject({ QueueUrl, Attributes: texts }),
  TagQueue: z.strictObject({ QueueUrl, Tags: texts }),
  UntagQueue: z.strictObject({ QueueUrl, TagKeys: z.array(text) }),
  ListQueueTags: z.strictObject({ QueueUrl }),
  PurgeQueue: z.strictObject({ QueueUrl }),
  SendMessage: z.extend(outgoing, { QueueUrl }),
  SendMessageBatch: z.strictObject({ QueueUrl, Entries: z.array(outgoingEntry) }),
  ReceiveMessage: z.strictObject({
    QueueUrl,
    AttributeNames: z.optional(z.array(text)),
    MessageSystemAttributeNames: z.optional(z.array(text)),
    MessageAttributeNames: z.optional(z.array(text)),
    MaxNumberOfMessages: z.optional(integer),
    VisibilityTimeout: z.optional(integer),
    WaitTimeSeconds: z.optional(integer),
    ReceiveRequestAttemptId: z.optional(text),
  }),
  DeleteMessage: z.strictObject({ QueueUrl, ReceiptHandle: text }),
  DeleteMessageBatch: z.strictObject({ QueueUrl, Entries: z.array(handleEntry) }),
  ChangeMessageVisibility: z.strictObject({ QueueUrl, ReceiptHandle: text, VisibilityTimeout: integer }),
  ChangeMessageVisibilityBatch: z.strictObject({ QueueUrl, Entries: z.array(visibilityEntry) }),
  ListDeadLetterSourceQueues: z.strictObject({
    QueueUrl,
    MaxResults: z.optional(integer),
    NextToken: z.optional(text),
  }),
};

/** The input of one action by the action's name. */
export type SqsInput<Action extends keyof typeof inputs> = z.infer<(typeof inputs)[Action]>;

/** The attributes of a message as they travel. */
export type MessageAttributes = z.infer<typeof messageAttributes>;

/** One message as it is handed in, alone or as part of a batch. */
export type Outgoing = z.infer<typeof outgoing>;
