import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { KMSClient } from "@aws-sdk/client-kms";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { createTestClock, type TestClock } from "../../../lib/local/clock.ts";
import type { Jitter } from "../../../lib/local/cloud/scheduler/jitter.ts";
import { type Cloud, startCloud } from "../../../lib/local/cloud/start-cloud.ts";
import { refuseSecretsInFolder } from "../run/secrets.ts";

/** An embedded cloud for tests, with the SDK's own clients on it and a clock to move by hand. */
export type TestCloud = Awaited<ReturnType<typeof startTestCloud>>;

/** Where the clock of a test starts by default. */
export const TEST_START = new Date("2026-03-01T12:00:00Z");

interface TestCloudSettings {
  readonly dataDir?: string;
  readonly clock?: TestClock;
  readonly jitter?: Jitter;
}

/**
 * Starts a cloud over a folder of its own, or over a given one that then stays. Expired items are swept on request only,
 * so that a clock that runs through days need not wait for it. End it with `close()`, which throws what went wrong inside.
 */
export async function startTestCloud({ dataDir, clock, jitter }: TestCloudSettings = {}) {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), "bridge-cloud-"));
  const testClock = clock ?? createTestClock(TEST_START);
  const faults: unknown[] = [];
  const cloud = await startCloud({
    dataDir: folder,
    clock: testClock,
    sweepsExpiredItems: false,
    ...(jitter && { jitter }),
    onFault: (fault) => faults.push(fault),
  });
  const clients = clientsOf(cloud);
  return {
    ...cloud,
    clock: testClock,
    dataDir: folder,
    /** What went wrong inside. */
    faults,
    clients,
    close: async () => {
      for (const client of Object.values(clients)) client.destroy();
      await cloud.close();
      try {
        refuseLeftovers(folder, faults);
      } finally {
        if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}

/** Throws when a secret can be read in the cloud's files, or when something went wrong inside; each fault once. */
export function refuseLeftovers(folder: string, faults: unknown[]): void {
  refuseSecretsInFolder(folder);
  const met = faults.splice(0);
  if (met.length > 0) throw new AggregateError(met, "the embedded cloud met faults");
}

function clientsOf({ endpoints, region, environment }: Cloud) {
  const credentials = { accessKeyId: environment["AWS_ACCESS_KEY_ID"] ?? "", secretAccessKey: "test" };
  const shared = { region, credentials, maxAttempts: 1 };
  const dynamodb = new DynamoDBClient({ ...shared, endpoint: endpoints.dynamodb });
  return {
    sqs: new SQSClient({ ...shared, endpoint: endpoints.sqs }),
    scheduler: new SchedulerClient({ ...shared, endpoint: endpoints.scheduler }),
    kms: new KMSClient({ ...shared, endpoint: endpoints.kms }),
    dynamodb,
    documents: DynamoDBDocumentClient.from(dynamodb),
  };
}
