import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { openDatabase } from "../../../lib/adapters/dynamodb/client.ts";
import { rateLimits } from "../../../lib/adapters/dynamodb/rate-limits.ts";
import { createTestClock } from "../../../lib/local/clock.ts";
import { countInMemory } from "../../../lib/local/cloud/dynamodb/count-in-memory.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const environment = { AWS_REGION: "eu-local-1", AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" };

beforeEach(() => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  return () => vi.unstubAllEnvs();
});

async function start(folder = temporaryFolder()) {
  const clock = createTestClock(new Date("2026-11-20T12:00:00Z"));
  const onFault = vi.fn();
  const counts = await countInMemory({ folder, tableName: "limits", environment, clock, onFault });
  onTestFinished(() => counts.close());
  const limits = rateLimits(openDatabase(() => "limits", counts.endpoint));
  return { folder, clock, onFault, counts, count: () => limits.count("192.0.2.1", new Date(clock.now())) };
}

test("counts are exact, and nothing of them is on the disk", async () => {
  const { folder, count } = await start();

  const counted = await Promise.all(Array.from({ length: 50 }, count));

  expect(counted.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 50 }, (_, at) => at + 1));
  expect(readdirSync(folder).toSorted()).toEqual(["rate-limits.log", "rate-limits.pid", "rate-limits.schema.json"]);
});

test("when its process dies it is started again at the same address, with its table, and says so", async () => {
  const { folder, onFault, count } = await start();
  await count();

  process.kill((JSON.parse(readFileSync(join(folder, "rate-limits.pid"), "utf8")) as { pid: number }).pid, "SIGKILL");
  await vi.waitUntil(() => onFault.mock.calls.length > 0, { timeout: 10_000, interval: 5 });

  // A request of this moment waits for it, as the SDK asks again while nothing listens.
  expect(await count()).toBe(1);
  expect(await count()).toBe(2);
  expect(String(onFault.mock.calls[0]?.[0])).toContain("is started again");
});

test("minutes that are over are swept, so that it never grows", async () => {
  const { clock, counts, count } = await start();
  await count();
  await clock.advance({ minutes: 59 });
  await count();

  await clock.advance({ minutes: 1 });

  const { Items } = await new DynamoDBClient({ endpoint: counts.endpoint }).send(
    new ScanCommand({ TableName: "limits" }),
  );
  expect(Items).toMatchObject([{ requests: { N: "1" } }]);
});
