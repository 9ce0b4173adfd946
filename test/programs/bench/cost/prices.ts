/**
 * What AWS asks for in us-east-1 (dollars, on demand, without free tiers, as of 2026): the one place with prices.
 * Data transfer, NAT gateways and Salesforce's own fees are not in it.
 */
export const PRICES = {
  /** Lambda on arm64: a call, and a gibibyte for a second. */
  lambdaRequest: 0.2e-6,
  lambdaGigabyteSecond: 0.000_013_333_4,
  /** SQS, standard queues: an action of up to ten messages and 64 KiB. */
  sqsRequest: 0.4e-6,
  /** DynamoDB on demand. */
  dynamoWriteUnit: 0.625e-6,
  dynamoReadUnit: 0.125e-6,
  /** EventBridge Scheduler: a firing. */
  schedulerFiring: 1e-6,
  /** KMS: a request, and a key for a month. */
  kmsRequest: 3e-6,
  kmsKeyMonth: 1,
  /** CloudWatch: a gibibyte of ingested log. */
  logGigabyte: 0.5,
} as const;

/** Seconds of the month that prices are given for. */
export const MONTH_SECONDS = 30 * 24 * 3600;

/** Lambda gives a function one processor for so much memory, and a share of one below it. */
export const MEGABYTES_PER_PROCESSOR = 1769;

/** An event source mapping asks its idle queue this often: five pollers, each with long polls of 20 s. */
export const IDLE_POLLS_PER_SECOND = 5 / 20;
