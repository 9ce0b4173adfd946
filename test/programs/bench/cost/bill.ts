import type { Used } from "./simulate.ts";

/**
 * What AWS asks for in us-east-1 (dollars, on demand, without free tiers, as of 2026): the one place with prices.
 * Data transfer, NAT gateways and Salesforce's own fees are not in it.
 */
const PRICES = {
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
const MONTH_SECONDS = 30 * 24 * 3600;

/** Lambda gives a function one processor for so much memory, and a share of one below it. */
const MEGABYTES_PER_PROCESSOR = 1769;

/** An event source mapping asks its idle queue this often: five pollers, each with long polls of 20 s. */
const IDLE_POLLS_PER_SECOND = 5 / 20;

/** Dollars a month by service. */
export type Bill = Readonly<Record<Service, number>>;

export const SERVICES = ["Lambda", "SQS", "DynamoDB", "Scheduler", "KMS", "CloudWatch"] as const;
type Service = (typeof SERVICES)[number];

/** A month of what this stretch took, for one workspace like it. */
export function monthOf(used: Used): Bill {
  const times = MONTH_SECONDS / used.seconds;
  const { units, sqsRequests, firings, kmsRequests, logBytes } = used;
  return {
    Lambda: times * lambdaDollars(used),
    SQS: times * sqsRequests * PRICES.sqsRequest,
    DynamoDB: times * (units.read * PRICES.dynamoReadUnit + units.write * PRICES.dynamoWriteUnit),
    Scheduler: times * firings * PRICES.schedulerFiring,
    KMS: times * kmsRequests * PRICES.kmsRequest,
    CloudWatch: times * (logBytes / 1024 ** 3) * PRICES.logGigabyte,
  };
}

/** What a month costs before anything happens: idle queues are asked whether they hold something, a key is kept. */
export function fixedCosts(queues: number): Bill {
  const polls = queues * IDLE_POLLS_PER_SECOND * MONTH_SECONDS;
  return {
    Lambda: 0,
    SQS: polls * PRICES.sqsRequest,
    DynamoDB: 0,
    Scheduler: 0,
    KMS: PRICES.kmsKeyMonth,
    CloudWatch: 0,
  };
}

/** Bills as one, the first so many times. */
export function together(workspaces: number, each: Bill, once: Bill): Bill {
  return Object.fromEntries(SERVICES.map((name) => [name, workspaces * each[name] + once[name]])) as unknown as Bill;
}

export const total = (bill: Bill): number => SERVICES.reduce((sum, name) => sum + bill[name], 0);

/**
 * A function waits as long on Lambda as it waits here, and computes longer: its memory buys it a share of a processor
 * (at 1,769 MB one), and the processor here counts as one of Lambda's.
 */
function lambdaDollars({ functions }: Used): number {
  let dollars = 0;
  for (const { calls, milliseconds, processorMilliseconds, memoryMegabytes } of Object.values(functions)) {
    const share = Math.min(1, memoryMegabytes / MEGABYTES_PER_PROCESSOR);
    const billed = milliseconds - processorMilliseconds + processorMilliseconds / share;
    dollars += calls * PRICES.lambdaRequest;
    dollars += (billed / 1000) * (memoryMegabytes / 1024) * PRICES.lambdaGigabyteSecond;
  }
  return dollars;
}
