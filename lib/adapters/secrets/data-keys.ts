import { DecryptCommand, DescribeKeyCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { createCache } from "../../model/cache.ts";
import { ASKING } from "../../network/sdk-timeouts.ts";

/** A key for AES-256, and itself encrypted by KMS. */
export interface DataKey {
  readonly plain: Uint8Array;
  readonly encrypted: Buffer;
}

/** Data keys per workspace, cached for a while so that KMS is asked once for many texts. */
export interface DataKeys {
  /** A key to seal with. */
  current(workspaceId: string): Promise<DataKey>;
  decrypt(workspaceId: string, encrypted: Buffer): Promise<Uint8Array>;
}

/** A key seals for this long in one process, then a new one is created. */
const MAX_AGE_MILLISECONDS = 5 * 60_000;

/** Data keys by the KMS key `keyId`. */
export function kmsDataKeys(keyId: string, now: () => Date): DataKeys {
  const kms = new KMSClient(ASKING);
  const sealing = createCache<DataKey>({ ttl: { milliseconds: MAX_AGE_MILLISECONDS, now } });
  const opened = createCache<Uint8Array>({});

  return {
    current: (workspaceId) => sealing(workspaceId, () => generate(kms, keyId, workspaceId)),
    decrypt: (workspaceId, encrypted) =>
      opened(`${workspaceId}:${encrypted.toString("base64")}`, () => decrypt(kms, workspaceId, encrypted)),
  };
}

/** What KMS says of the key: `Enabled`, or why it opens nothing (`PendingDeletion`, `Disabled`, …). */
export async function keyState(keyId: string): Promise<string> {
  const { KeyMetadata } = await new KMSClient(ASKING).send(new DescribeKeyCommand({ KeyId: keyId }));
  return KeyMetadata?.KeyState ?? "unknown";
}

async function generate(kms: KMSClient, keyId: string, workspaceId: string): Promise<DataKey> {
  const answer = await kms.send(
    new GenerateDataKeyCommand({ KeyId: keyId, KeySpec: "AES_256", EncryptionContext: contextOf(workspaceId) }),
  );
  if (!answer.Plaintext || !answer.CiphertextBlob) throw new Error(`KMS gave no data key by ${keyId}`);
  return { plain: answer.Plaintext, encrypted: Buffer.from(answer.CiphertextBlob) };
}

/** By the key that it names, which another one may have replaced; a function's role says which of them it may use. */
async function decrypt(kms: KMSClient, workspaceId: string, encrypted: Buffer): Promise<Uint8Array> {
  const answer = await kms.send(
    new DecryptCommand({ CiphertextBlob: encrypted, EncryptionContext: contextOf(workspaceId) }),
  );
  if (!answer.Plaintext) throw new Error(`KMS did not open a data key of workspace ${workspaceId}`);
  return answer.Plaintext;
}

const contextOf = (workspaceId: string): Record<string, string> => ({ workspace_id: workspaceId });
