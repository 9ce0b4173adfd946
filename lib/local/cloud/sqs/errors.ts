import { AwsError } from "../aws-error.ts";

const OLDER_NAMES = {
  BatchEntryIdsNotDistinct: "AWS.SimpleQueueService.BatchEntryIdsNotDistinct",
  BatchRequestTooLong: "AWS.SimpleQueueService.BatchRequestTooLong",
  EmptyBatchRequest: "AWS.SimpleQueueService.EmptyBatchRequest",
  InvalidAttributeName: "InvalidAttributeName",
  InvalidAttributeValue: "InvalidAttributeValue",
  InvalidBatchEntryId: "AWS.SimpleQueueService.InvalidBatchEntryId",
  InvalidMessageContents: "InvalidMessageContents",
  InvalidParameterValue: "InvalidParameterValue",
  MessageNotInflight: "AWS.SimpleQueueService.MessageNotInflight",
  MissingParameter: "MissingParameter",
  OverLimit: "OverLimit",
  PurgeQueueInProgress: "AWS.SimpleQueueService.PurgeQueueInProgress",
  QueueDeletedRecently: "AWS.SimpleQueueService.QueueDeletedRecently",
  QueueDoesNotExist: "AWS.SimpleQueueService.NonExistentQueue",
  QueueNameExists: "QueueAlreadyExists",
  ReceiptHandleIsInvalid: "ReceiptHandleIsInvalid",
  ResourceNotFoundException: "ResourceNotFoundException",
  TooManyEntriesInBatchRequest: "AWS.SimpleQueueService.TooManyEntriesInBatchRequest",
  UnsupportedOperation: "AWS.SimpleQueueService.UnsupportedOperation",
} as const;

/** A refusal of SQS under both of its names. */
export function sqsError(name: keyof typeof OLDER_NAMES, message: string): AwsError {
  return new AwsError(name, message, { queryCode: OLDER_NAMES[name] });
}

/** The refusal of a value outside its bounds, in the words of SQS. */
export function invalidValue(parameter: string, value: unknown, reason: string): AwsError {
  return sqsError(
    "InvalidParameterValue",
    `Value ${String(value)} for parameter ${parameter} is invalid. Reason: ${reason}.`,
  );
}

/** The value itself when it is within bounds, both included. */
export function within(parameter: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw invalidValue(parameter, value, `${parameter} must be >= ${least} and <= ${most}`);
}
