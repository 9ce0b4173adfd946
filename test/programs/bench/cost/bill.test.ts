import { expect, test } from "vitest";
import { fixedCosts, monthOf, together, total } from "./bill.ts";
import { PRICES } from "./prices.ts";

const NOTHING = { read: 0, write: 0, calls: {} };

const idle = {
  seconds: 30 * 24 * 3600,
  functions: {},
  units: NOTHING,
  sqsRequests: 0,
  firings: 0,
  kmsRequests: 0,
  logBytes: 0,
};

test("a function costs for the time that it waits and for the share of a processor that comes with its memory", () => {
  const calls = {
    memoryMegabytes: 1769,
    calls: 1_000_000,
    records: 1,
    milliseconds: 100_000_000,
    processorMilliseconds: 50_000_000,
  };
  const whole = monthOf({ ...idle, functions: { one: calls } });
  const half = monthOf({ ...idle, functions: { one: { ...calls, memoryMegabytes: 1769 / 2 } } });

  const gigabyteSeconds = 100_000 * (1769 / 1024);
  expect(whole.Lambda).toBeCloseTo(0.2 + gigabyteSeconds * PRICES.lambdaGigabyteSecond, 6);
  // Waits cost half as much, computing takes twice as long.
  expect(half.Lambda).toBeCloseTo(0.2 + gigabyteSeconds * 0.75 * PRICES.lambdaGigabyteSecond, 6);
});

test("a measured time is shown as a month's cost, service by service", () => {
  const hour = { ...idle, seconds: 3600, units: { ...NOTHING, read: 8, write: 2 }, sqsRequests: 5, firings: 1 };
  const bill = monthOf(hour);

  expect(bill.DynamoDB).toBeCloseTo(720 * (8 * PRICES.dynamoReadUnit + 2 * PRICES.dynamoWriteUnit), 9);
  expect(bill.SQS).toBeCloseTo(720 * 5 * PRICES.sqsRequest, 9);
  expect(bill.Scheduler).toBeCloseTo(720 * PRICES.schedulerFiring, 9);
});

test("what a deployment pays in any case is paid once, however many workspaces it has", () => {
  const each = monthOf({ ...idle, firings: 1_000_000 });

  expect(total(fixedCosts(10))).toBeCloseTo(10 * 648_000 * PRICES.sqsRequest + 1, 6);
  expect(total(together(100, each, fixedCosts(10)))).toBeCloseTo(100 * total(each) + total(fixedCosts(10)), 6);
});
