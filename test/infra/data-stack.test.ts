import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type QUEUES, TABLES, WORKERS } from "../../lib/model/resources.ts";
import { type Assembly, PROD, type Resource, synthesizeFixtures } from "./assembly.ts";

let dev: Assembly;

beforeAll(async () => {
  dev = await synthesizeFixtures();
});

test("tables and key outlive the stacks, and tables can be restored to any second", () => {
  const tables = dev.all("AWS::DynamoDB::Table");

  expect(tables).toHaveLength(Object.keys(TABLES).length);
  for (const { Properties, DeletionPolicy } of tables) {
    expect(DeletionPolicy).toBe("RetainExceptOnCreate");
    expect(Properties).toMatchObject({
      BillingMode: "PAY_PER_REQUEST",
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: "expires_at", Enabled: true },
    });
  }
  expect(dev.all("AWS::KMS::Key").map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(["RetainExceptOnCreate"]);
});

test("a message is never seen twice because its reader is still at work", () => {
  for (const { queue, timeoutSeconds, batchWindowSeconds } of Object.values(WORKERS)) {
    const least = 6 * timeoutSeconds + batchWindowSeconds;
    expect(Number(queueNamed(queue).Properties["VisibilityTimeout"]), queue).toBeGreaterThanOrEqual(least);
  }
});

/** By hand: work that continues from one call to the next, or waits in hops, comes back often; the rest is tried five times. */
const RECEIVES: Readonly<Record<keyof typeof QUEUES, number>> = {
  ...{ fanOut: 5, cycles: 5, loads: 20, provisioning: 20, sweeps: 5, events: 20, deliveries: 20, slowDeliveries: 20 },
  ...{ retriesShort: 20, retriesMedium: 20, retriesLong: 20 },
};
const DELAYS: Readonly<Record<string, number>> = { retriesShort: 30, retriesMedium: 300, retriesLong: 900 };

test.each(Object.entries(RECEIVES))(
  "a message of %s is given up after %i receives, and kept two weeks then",
  (name, receives) => {
    const { RedrivePolicy, DelaySeconds } = queueNamed(name).Properties;
    const deadLetters = String(RedrivePolicy?.["deadLetterTargetArn"]?.["Fn::GetAtt"]?.[0]);
    const { Properties } = dev.all("AWS::SQS::Queue").find(({ id }) => id === deadLetters) ?? {};

    expect(RedrivePolicy?.["maxReceiveCount"]).toBe(receives);
    expect(Number(DelaySeconds ?? 0)).toBe(DELAYS[name] ?? 0);
    expect(Properties?.["MessageRetentionPeriod"]).toBe(14 * 24 * 3600);
  },
);

test("in prod nothing that holds data can be deleted by mistake", async () => {
  const prod = await synthesizeFixtures(PROD);

  for (const { Properties } of prod.all("AWS::DynamoDB::Table")) {
    expect(Properties["DeletionProtectionEnabled"]).toBe(true);
  }
});

const SIZING = readFileSync(join(import.meta.dirname, "../../lib/infra/SIZING.md"), "utf8");

test("what the operator reads about the size of each worker is what is deployed, and has its reason", () => {
  const lines = Object.entries(WORKERS).map(([name, row]) =>
    [
      `| \`${name}\``,
      `${row.memoryMegabytes} MB`,
      `${row.timeoutSeconds} s`,
      row.maxConcurrency,
      row.batchSize,
      `${row.batchWindowSeconds} s |`,
    ].join(" | "),
  );

  expect(SIZING.match(/^\| `.* s \|$/gm)).toEqual(lines);
  const reasons = SIZING.split(/^## /m).slice(1).join();
  for (const name of Object.keys(WORKERS)) expect.soft(reasons).toContain(`\`${name}\``);
});

function queueNamed(name: string): Resource {
  const physical = `bridge-dev-${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const made = dev.all("AWS::SQS::Queue").find(({ Properties }) => String(Properties["QueueName"]) === physical);
  if (!made) throw new Error(`no queue ${physical}`);
  return made;
}
