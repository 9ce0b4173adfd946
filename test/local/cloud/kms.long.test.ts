import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { DecryptCommand, DescribeKeyCommand, EncryptCommand, GenerateDataKeyCommand } from "@aws-sdk/client-kms";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { startTestCloud, type TestCloud } from "../../support/worlds/cloud.ts";

const ALIAS = "alias/bridge";
const CONTEXT = { workspace: "w_1", purpose: "credentials" };

async function cloudWithKey(): Promise<TestCloud> {
  const cloud = await startTestCloud();
  onTestFinished(() => cloud.close());
  cloud.kms.ensureKey(ALIAS);
  return cloud;
}

const encrypt = ({ clients }: TestCloud, text: string) =>
  clients.kms.send(new EncryptCommand({ KeyId: ALIAS, Plaintext: Buffer.from(text), EncryptionContext: CONTEXT }));

describe("a secret", () => {
  test("opens under the context that it was sealed with, in whatever order", async () => {
    const cloud = await cloudWithKey();
    const { CiphertextBlob } = await encrypt(cloud, "geheim 🔑");

    const EncryptionContext = { purpose: "credentials", workspace: "w_1" };
    const opened = await cloud.clients.kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext }));

    expect(Buffer.from(opened.Plaintext ?? []).toString()).toBe("geheim 🔑");
    expect(Buffer.from(CiphertextBlob ?? []).includes("geheim")).toBe(false);
  });

  test("does not open under another context, or damaged", async () => {
    const cloud = await cloudWithKey();
    const { CiphertextBlob = new Uint8Array() } = await encrypt(cloud, "secret");
    const damaged = Uint8Array.from(CiphertextBlob);
    damaged.set([(damaged.at(-1) ?? 0) ^ 1], damaged.length - 1);
    const attempts = [
      { CiphertextBlob, EncryptionContext: { ...CONTEXT, workspace: "w_2" } },
      { CiphertextBlob },
      { CiphertextBlob: damaged, EncryptionContext: CONTEXT },
      { CiphertextBlob: Buffer.from("not one of ours, but long enough to be one of them"), EncryptionContext: CONTEXT },
    ];

    for (const attempt of attempts) {
      await expect(cloud.clients.kms.send(new DecryptCommand(attempt))).rejects.toMatchObject({
        name: "InvalidCiphertextException",
      });
    }
  });
});

describe("a key", () => {
  test("gives data keys of 32 bytes that it alone can open again", async () => {
    const cloud = await cloudWithKey();

    const { Plaintext, CiphertextBlob } = await cloud.clients.kms.send(
      new GenerateDataKeyCommand({ KeyId: ALIAS, KeySpec: "AES_256", EncryptionContext: CONTEXT }),
    );
    const opened = await cloud.clients.kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: CONTEXT }));

    expect(Plaintext).toHaveLength(32);
    expect(opened.Plaintext).toEqual(Plaintext);
  });

  test("is found by id, ARN and alias, and survives a restart", async () => {
    const dataDir = temporaryFolder();
    const first = await startTestCloud({ dataDir });
    const arn = first.kms.ensureKey(ALIAS);
    const { CiphertextBlob } = await encrypt(first, "kept");
    await first.close();

    const second = await startTestCloud({ dataDir });
    onTestFinished(() => second.close());

    expect(second.kms.ensureKey(ALIAS)).toBe(arn);
    for (const KeyId of [arn, arn.split("/").at(-1), ALIAS, `arn:aws:kms:eu-local-1:000000000000:${ALIAS}`]) {
      const { KeyMetadata } = await second.clients.kms.send(new DescribeKeyCommand({ KeyId }));
      expect(KeyMetadata?.Arn).toBe(arn);
    }
    const opened = await second.clients.kms.send(new DecryptCommand({ CiphertextBlob, EncryptionContext: CONTEXT }));
    expect(Buffer.from(opened.Plaintext ?? []).toString()).toBe("kept");
  });

  test("lies in a file for its owner alone, and is not used when others can read it", async () => {
    const dataDir = temporaryFolder();
    const cloud = await startTestCloud({ dataDir });
    cloud.kms.ensureKey(ALIAS);
    await cloud.close();
    const file = join(dataDir, "kms-keys.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);

    chmodSync(file, 0o644);

    await expect(startTestCloud({ dataDir })).rejects.toThrow(`chmod 600 ${file}`);
  });
});
