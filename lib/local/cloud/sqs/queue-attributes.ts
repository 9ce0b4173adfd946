import * as z from "zod/mini";
import { sqsError } from "./errors.ts";

/** The settable attributes of a queue, as text like everywhere in SQS. Those not set have their default. */
export type QueueAttributes = Readonly<Record<string, string>>;

/** What a queue is without any setting: as on AWS. */
const DEFAULTS: QueueAttributes = {
  DelaySeconds: "0",
  MaximumMessageSize: "1048576",
  MessageRetentionPeriod: "345600",
  ReceiveMessageWaitTimeSeconds: "0",
  VisibilityTimeout: "30",
  SqsManagedSseEnabled: "true",
};

const BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  DelaySeconds: [0, 900],
  MaximumMessageSize: [1_024, 1_048_576],
  MessageRetentionPeriod: [60, 1_209_600],
  ReceiveMessageWaitTimeSeconds: [0, 20],
  VisibilityTimeout: [0, 43_200],
  KmsDataKeyReusePeriodSeconds: [60, 86_400],
};

const OTHERS = new Set(["Policy", "RedrivePolicy", "RedriveAllowPolicy", "KmsMasterKeyId", "SqsManagedSseEnabled"]);
const FIFO_ONLY = new Set(["FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit"]);

const redrivePolicy = z.strictObject({
  deadLetterTargetArn: z.string(),
  maxReceiveCount: z.union([z.int(), z.pipe(z.string(), z.coerce.number())]),
});

/** Where messages go that were received too often. */
export interface Redrive {
  readonly deadLetterArn: string;
  readonly maxReceiveCount: number;
}

/** The attributes after a change, checked one by one; an empty value takes an attribute back to its default. */
export function withAttributes(before: QueueAttributes, changes: QueueAttributes): QueueAttributes {
  const after = { ...DEFAULTS, ...before };
  for (const [name, value] of Object.entries(changes)) {
    checkAttribute(name, value);
    if (value !== "") after[name] = value;
    else if (DEFAULTS[name] !== undefined) after[name] = DEFAULTS[name];
    else delete after[name];
  }
  return after;
}

/** One attribute that is a number. */
export function numberOf(attributes: QueueAttributes, name: string): number {
  return Number(attributes[name] ?? DEFAULTS[name]);
}

/** The redrive policy, or null when the queue has none. */
export function redriveOf({ RedrivePolicy }: QueueAttributes): Redrive | null {
  if (!RedrivePolicy) return null;
  const parsed = z.safeParse(redrivePolicy, parsedJson("RedrivePolicy", RedrivePolicy));
  const maxReceiveCount = Number(parsed.data?.maxReceiveCount);
  if (!parsed.success || !Number.isInteger(maxReceiveCount) || maxReceiveCount < 1 || maxReceiveCount > 1_000) {
    throw invalidAttribute(
      "RedrivePolicy",
      RedrivePolicy,
      "needs deadLetterTargetArn and maxReceiveCount from 1 to 1000",
    );
  }
  return { deadLetterArn: parsed.data.deadLetterTargetArn, maxReceiveCount };
}

/** The refusal of an attribute's value. */
function invalidAttribute(name: string, value: string, reason: string): Error {
  return sqsError("InvalidAttributeValue", `Invalid value "${value}" for the attribute ${name}: ${reason}.`);
}

function checkAttribute(name: string, value: string): void {
  if (FIFO_ONLY.has(name)) {
    throw sqsError(
      "UnsupportedOperation",
      `${name}: FIFO queues are not part of the embedded cloud; use a standard queue.`,
    );
  }
  const bounds = BOUNDS[name];
  if (!bounds && !OTHERS.has(name)) throw sqsError("InvalidAttributeName", `Unknown Attribute ${name}.`);
  if (value === "") return;
  if (bounds && !(/^\d+$/.test(value) && Number(value) >= bounds[0] && Number(value) <= bounds[1])) {
    throw invalidAttribute(name, value, `must be an integer from ${bounds[0]} to ${bounds[1]}`);
  }
  if (name === "RedrivePolicy") redriveOf({ RedrivePolicy: value });
  if (name.endsWith("Policy")) parsedJson(name, value);
  if (name === "SqsManagedSseEnabled" && value !== "true" && value !== "false") {
    throw invalidAttribute(name, value, "must be true or false");
  }
}

function parsedJson(name: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw invalidAttribute(name, value, "is not JSON");
  }
}
