import {
  CancelKeyDeletionCommand,
  CreateAliasCommand,
  DecryptCommand,
  DescribeKeyCommand,
  EnableKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  type KMSClient,
  ScheduleKeyDeletionCommand,
} from "@aws-sdk/client-kms";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestCloud, type TestCloud } from "../support/worlds/cloud.ts";

/** Every limit of KMS that this project relies on. */

const KeyId = "alias/bridge";
let cloud: TestCloud;
let kms: KMSClient;

beforeAll(async () => {
  cloud = await startTestCloud();
  kms = cloud.clients.kms;
  cloud.kms.ensureKey(KeyId);
});

afterAll(() => cloud.close());

const encrypt = (Plaintext: Uint8Array, EncryptionContext = {}) =>
  new EncryptCommand({ KeyId, Plaintext, EncryptionContext });
const unknownKey = "arn:aws:kms:eu-local-1:000000000000:key/7d4c1f0e-0000-4000-8000-000000000000";

test.each([
  ["a plaintext of 4,097 bytes", () => encrypt(new Uint8Array(4_097)), "ValidationException"],
  ["an empty plaintext", () => encrypt(new Uint8Array()), "ValidationException"],
  ["a context of more than 8 KiB", () => encrypt(Uint8Array.of(1), { a: "x".repeat(8_192) }), "ValidationException"],
  [
    "a data key of both kinds at once",
    () => new GenerateDataKeyCommand({ KeyId, KeySpec: "AES_256", NumberOfBytes: 32 }),
    "ValidationException",
  ],
  ["a data key of neither kind", () => new GenerateDataKeyCommand({ KeyId }), "ValidationException"],
  [
    "a data key of 1,025 bytes",
    () => new GenerateDataKeyCommand({ KeyId, NumberOfBytes: 1_025 }),
    "ValidationException",
  ],
  ["a key that does not exist", () => new DescribeKeyCommand({ KeyId: unknownKey }), "NotFoundException"],
  ["an alias that does not exist", () => new DescribeKeyCommand({ KeyId: "alias/none" }), "NotFoundException"],
  [
    "an alias that exists already",
    () => new CreateAliasCommand({ AliasName: KeyId, TargetKeyId: KeyId }),
    "AlreadyExistsException",
  ],
  [
    "an alias of AWS's own",
    () => new CreateAliasCommand({ AliasName: "alias/aws/sqs", TargetKeyId: KeyId }),
    "ValidationException",
  ],
  [
    "a ciphertext that is none",
    () => new DecryptCommand({ CiphertextBlob: Uint8Array.of(1, 2, 3) }),
    "InvalidCiphertextException",
  ],
])("%s is refused", async (_, command, name) => {
  await expect(kms.send(command() as EncryptCommand)).rejects.toMatchObject({ name });
});

test("a ciphertext of one key is refused under the name of another", async () => {
  const { CiphertextBlob } = await kms.send(encrypt(Uint8Array.of(1)));
  const other = cloud.kms.ensureKey("alias/other");

  await expect(kms.send(new DecryptCommand({ CiphertextBlob, KeyId: other }))).rejects.toMatchObject({
    name: "IncorrectKeyException",
  });
});

test("a key that is disabled or will be deleted opens and seals nothing, and says why", async () => {
  const key = cloud.kms.ensureKey("alias/ended");
  const { CiphertextBlob } = await kms.send(new EncryptCommand({ KeyId: key, Plaintext: Uint8Array.of(1) }));
  const open = () => kms.send(new DecryptCommand({ CiphertextBlob }));
  const state = async () => (await kms.send(new DescribeKeyCommand({ KeyId: key }))).KeyMetadata?.KeyState;

  await kms.send(new ScheduleKeyDeletionCommand({ KeyId: key, PendingWindowInDays: 7 }));
  expect(await state()).toBe("PendingDeletion");
  await expect(open()).rejects.toMatchObject({ name: "KMSInvalidStateException" });
  await expect(kms.send(new EnableKeyCommand({ KeyId: key }))).rejects.toMatchObject({
    name: "KMSInvalidStateException",
  });

  // A key whose deletion was cancelled is disabled (AWS KMS Developer Guide, Scheduling and canceling key deletion).
  await kms.send(new CancelKeyDeletionCommand({ KeyId: key }));
  expect(await state()).toBe("Disabled");
  await expect(open()).rejects.toMatchObject({ name: "DisabledException" });

  await kms.send(new EnableKeyCommand({ KeyId: key }));
  expect((await open()).Plaintext).toEqual(Uint8Array.of(1));
});

test("a plaintext of 4,096 bytes is accepted", async () => {
  const Plaintext = new Uint8Array(4_096).fill(7);
  const { CiphertextBlob } = await kms.send(encrypt(Plaintext));

  expect((await kms.send(new DecryptCommand({ CiphertextBlob }))).Plaintext).toEqual(Plaintext);
});
