import type * as z from "zod/mini";
import type { JsonService } from "../json-service.ts";
import { getQueueAttributes, listDeadLetterSourceQueues, listQueues } from "./describe.ts";
import { sqsError } from "./errors.ts";
import { inputs, type SqsInput } from "./inputs.ts";
import { Queues, type SqsSettings } from "./queues.ts";
import { receiveMessage } from "./receive.ts";
import { keepRetention } from "./retention.ts";
import { sendMessage, sendMessageBatch } from "./send.ts";
import { changeMessageVisibility, changeMessageVisibilityBatch, deleteMessage, deleteMessageBatch } from "./settle.ts";

/** The actions of SQS as functions, named as on AWS; what they throw is an AwsError. */
type SqsActions = ReturnType<typeof actionsOf>;

/** SQS with standard queues: by `actions` inside the process, by `service` over HTTP. */
export interface Sqs {
  readonly actions: SqsActions;
  readonly service: JsonService;
  /** The URL of a queue by its ARN, or undefined when there is none. */
  urlOfArn(arn: string): string | undefined;
  close(): void;
}

const PURGE_PAUSE_MILLISECONDS = 60_000;

/** Opens the queues of one file. */
export function openSqs(settings: SqsSettings): Sqs {
  const queues = new Queues(settings);
  const stopRetention = keepRetention(queues);
  const actions = actionsOf(queues);
  return {
    actions,
    service: { targetPrefix: "AmazonSQS", signingName: "sqs", inputs, actions, refuse },
    urlOfArn: (arn) => {
      const queue = queues.byArn(arn);
      return queue && queues.urlOf(queue);
    },
    close() {
      stopRetention();
      queues.close();
    },
  };
}

function actionsOf(queues: Queues) {
  return {
    CreateQueue: ({ QueueName, Attributes = {}, tags = {} }: SqsInput<"CreateQueue">) => ({
      QueueUrl: queues.urlOf(queues.create(QueueName, Attributes, tags)),
    }),
    DeleteQueue: ({ QueueUrl }: SqsInput<"DeleteQueue">) => queues.delete(queues.at(QueueUrl)),
    GetQueueUrl: ({ QueueName }: SqsInput<"GetQueueUrl">) => ({ QueueUrl: queues.urlOf(queues.named(QueueName)) }),
    ListQueues: (input: SqsInput<"ListQueues">) => listQueues(queues, input),
    GetQueueAttributes: (input: SqsInput<"GetQueueAttributes">) => getQueueAttributes(queues, input),
    SetQueueAttributes: ({ QueueUrl, Attributes }: SqsInput<"SetQueueAttributes">) =>
      queues.setAttributes(queues.at(QueueUrl), Attributes),
    TagQueue: ({ QueueUrl, Tags }: SqsInput<"TagQueue">) => {
      const queue = queues.at(QueueUrl);
      queue.tags = { ...queue.tags, ...Tags };
      queues.save(queue);
    },
    UntagQueue: ({ QueueUrl, TagKeys }: SqsInput<"UntagQueue">) => {
      const queue = queues.at(QueueUrl);
      for (const key of TagKeys) delete queue.tags[key];
      queues.save(queue);
    },
    ListQueueTags: ({ QueueUrl }: SqsInput<"ListQueueTags">) => ({ Tags: queues.at(QueueUrl).tags }),
    PurgeQueue: ({ QueueUrl }: SqsInput<"PurgeQueue">) => purge(queues, QueueUrl),
    SendMessage: (input: SqsInput<"SendMessage">, _?: AbortSignal, traceHeader?: string) =>
      sendMessage(queues, input, traceHeader),
    SendMessageBatch: (input: SqsInput<"SendMessageBatch">, _?: AbortSignal, traceHeader?: string) =>
      sendMessageBatch(queues, input, traceHeader),
    ReceiveMessage: (input: SqsInput<"ReceiveMessage">, signal: AbortSignal) => receiveMessage(queues, input, signal),
    DeleteMessage: (input: SqsInput<"DeleteMessage">) => deleteMessage(queues, input),
    DeleteMessageBatch: (input: SqsInput<"DeleteMessageBatch">) => deleteMessageBatch(queues, input),
    ChangeMessageVisibility: (input: SqsInput<"ChangeMessageVisibility">) => changeMessageVisibility(queues, input),
    ChangeMessageVisibilityBatch: (input: SqsInput<"ChangeMessageVisibilityBatch">) =>
      changeMessageVisibilityBatch(queues, input),
    ListDeadLetterSourceQueues: (input: SqsInput<"ListDeadLetterSourceQueues">) =>
      listDeadLetterSourceQueues(queues, input),
  };
}

function purge(queues: Queues, url: string): void {
  const queue = queues.at(url);
  const now = queues.clock.now();
  if (queue.purgedAt !== null && queue.purgedAt + PURGE_PAUSE_MILLISECONDS > now) {
    throw sqsError(
      "PurgeQueueInProgress",
      `Only one PurgeQueue operation on ${queue.name} is allowed every 60 seconds.`,
    );
  }
  queue.purgedAt = now;
  queues.store.transaction(() => {
    queues.store.purge.run(queue.id);
    queues.save(queue);
  });
  for (const held of queue.backlog.all()) queue.backlog.remove(held);
}

function refuse(issue: z.core.$ZodIssue): Error {
  const at = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    return sqsError("InvalidParameterValue", `Unknown parameter ${issue.keys.join(", ")}${at && ` in ${at}`}.`);
  }
  const isMissing = issue.code === "invalid_type" && issue.input === undefined;
  if (isMissing) return sqsError("MissingParameter", `The request must contain the parameter ${at}.`);
  return sqsError("InvalidParameterValue", `The parameter ${at} is invalid: ${issue.message}.`);
}
