import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { CreateKeyCommand, DecryptCommand, EncryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type Cloud, startCloud } from "../../../lib/local/cloud/start-cloud.ts";
import { identityOf } from "../../../lib/local/process-identity.ts";
import { runUntilKilled } from "../../support/processes/run-until-killed.ts";
import { countWritten, startWriter } from "../../support/processes/write-everything.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const TABLE = {
  TableName: "kept",
  BillingMode: "PAY_PER_REQUEST",
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
};

async function start(dataDir = temporaryFolder(), onFault = vi.fn()): Promise<Cloud> {
  const cloud = await startCloud({ dataDir, onFault });
  onTestFinished(() => cloud.close());
  return cloud;
}

function useAsEnvironment(environment: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
}

const pidOfDynamoDb = (dataDir: string): number =>
  (JSON.parse(readFileSync(join(dataDir, "dynamodb.pid"), "utf8")) as { pid: number }).pid;

describe("the embedded cloud", () => {
  test("takes its DynamoDB with it when it is killed", async () => {
    const dataDir = temporaryFolder();
    const victim = await runUntilKilled("hold-cloud.ts", dataDir);
    const pid = pidOfDynamoDb(dataDir);

    await victim.kill();

    await vi.waitUntil(() => identityOf(pid) === null, { timeout: 300_000, interval: 5 });
  });

  test("starts its DynamoDB again at the same address when that dies, and says so", async () => {
    const dataDir = temporaryFolder();
    const onFault = vi.fn();
    const cloud = await start(dataDir, onFault);
    await cloud.dynamodb.ensureTable(TABLE);
    useAsEnvironment(cloud.environment);
    const client = new DynamoDBClient({ maxAttempts: 20 });
    await client.send(new PutItemCommand({ TableName: "kept", Item: { id: { S: "a" } } }));

    process.kill(pidOfDynamoDb(dataDir), "SIGKILL");
    await vi.waitUntil(() => onFault.mock.calls.length > 0, { timeout: 300_000, interval: 5 });

    const { Item } = await client.send(new GetItemCommand({ TableName: "kept", Key: { id: { S: "a" } } }));
    expect(Item).toEqual({ id: { S: "a" } });
    expect(String(onFault.mock.calls[0]?.[0])).toContain("the embedded DynamoDB ended");
  });

  test.each([
    ["sqs.sqlite", "cannot be opened: file is not a database"],
    ["kms-keys.json", "does not hold the keys of every credential any more: restore it from a copy"],
  ])("names the file when %s is damaged", async (name, reason) => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, name), "something else\n".repeat(100), { mode: 0o600 });

    await expect(startCloud({ dataDir })).rejects.toThrow(`${join(dataDir, name)} ${reason}`);
  });

  test("no user of this machine gets in without the key of this start, and no credential is opened", async () => {
    const dataDir = temporaryFolder();
    const first = await startCloud({ dataDir });
    const keyOf = ({ environment }: Cloud) => environment["AWS_ACCESS_KEY_ID"] ?? "";
    const clientWith = ({ endpoints, region: ours }: Cloud, accessKeyId: string, region = ours) =>
      new KMSClient({ endpoint: endpoints.kms, region, credentials: { accessKeyId, secretAccessKey: "test" } });
    const { KeyMetadata } = await clientWith(first, keyOf(first)).send(new CreateKeyCommand({}));
    const sealing = { KeyId: KeyMetadata?.KeyId, Plaintext: Buffer.from("password") };
    const { CiphertextBlob } = await clientWith(first, keyOf(first)).send(new EncryptCommand(sealing));
    await first.close();
    const cloud = await start(dataDir);
    const opening = new DecryptCommand({ CiphertextBlob });

    for (const key of [keyOf(first), "AKIALOCALBRIDGE00000", `${keyOf(cloud)}A`])
      await expect(clientWith(cloud, key).send(opening)).rejects.toMatchObject({ name: "UnrecognizedClientException" });
    await expect(clientWith(cloud, keyOf(cloud), "us-east-1").send(opening)).rejects.toMatchObject({
      name: "InvalidSignatureException",
    });
    const headers = { "x-amz-target": "TrentService.ListAliases", "content-type": "application/x-amz-json-1.1" };
    const unsigned = await fetch(cloud.endpoints.kms, { method: "POST", headers, body: "{}" });
    expect(unsigned.status).toBe(403);

    const opened = await clientWith(cloud, keyOf(cloud)).send(opening);
    expect(Buffer.from(opened.Plaintext ?? []).toString()).toBe("password");
  });
});

describe("after its owner was killed with SIGKILL", () => {
  test("every acknowledged message is there, visible, in flight or delayed, and every item and schedule", async () => {
    const dataDir = temporaryFolder();
    const victim = await runUntilKilled("hold-cloud.ts", dataDir);
    useAsEnvironment(victim.said);
    const acknowledged = { messages: 0, items: 0 };
    const writer = await startWriter();
    const writing = Promise.allSettled([
      repeat(async () => {
        acknowledged.messages += await writer.sendTen();
      }),
      repeat(async () => {
        await writer.put(acknowledged.items);
        acknowledged.items += 1;
      }),
    ]);
    await vi.waitUntil(() => acknowledged.messages >= 200 && acknowledged.items >= 100, {
      timeout: 300_000,
      interval: 5,
    });

    await victim.kill();
    await writing;
    const cloud = await start(dataDir);
    useAsEnvironment(cloud.environment);

    const written = await countWritten();
    expect(written).toMatchObject({ inFlight: 1, delayed: 1, schedules: ["beat"] });
    expect(written.visible).toBeGreaterThanOrEqual(acknowledged.messages);
    expect(written.items).toBeGreaterThanOrEqual(acknowledged.items);
  });
});

/** Runs until the other side is gone. */
async function repeat(work: () => Promise<void>): Promise<never> {
  for (;;) await work();
}
