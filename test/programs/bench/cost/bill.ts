import { IDLE_POLLS_PER_SECOND, MEGABYTES_PER_PROCESSOR, MONTH_SECONDS, PRICES } from "./prices.ts";
import type { Used } from "./simulate.ts";

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
