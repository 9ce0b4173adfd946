import { DecryptCommand, GenerateDataKeyCommand, KMSClient } from "@aws-sdk/client-kms";
import { ASKING } from "../asking.ts";

/** A key for AES-256, and itself encrypted by KMS. */
export interface DataKey {
  readonly plain: Uint8Array;
  readonly encrypted: Buffer;
}

/** Data keys per workspace, remembered for a while so that KMS is asked once for many texts. */
export interface DataKeys {
  /** A key to seal with. */
  current(workspaceId: string): Promise<DataKey>;
  decrypt(workspaceId: string, encrypted: Buffer): Promise<Uint8Array>;
}

/** A key seals for this long in one process, then a new one is made. */
const MAX_AGE_MILLISECONDS = 5 * 60_000;

/** Decrypted keys that one process remembers at most. */
const MAX_REMEMBERED = 1000;

/** Data keys by the KMS key `keyId`. */
export function kmsDataKeys(keyId: string, now: () => Date): DataKeys {
  const kms = new KMSClient(ASKING);
  const sealing = new Map<string, { readonly key: Promise<DataKey>; readonly until: number }>();
  const opened = new Map<string, Promise<Uint8Array>>();

  return {
    current: (workspaceId) => {
      const known = sealing.get(workspaceId);
      if (known && known.until > now().getTime()) return known.key;
      const key = forgetIfRefused(sealing, workspaceId, generate(kms, keyId, workspaceId));
      remember(sealing, workspaceId, { key, until: now().getTime() + MAX_AGE_MILLISECONDS });
      return key;
    },

    decrypt: (workspaceId, encrypted) => {
      const name = `${workspaceId}:${encrypted.toString("base64")}`;
      const known = opened.get(name);
      if (known) return known;
      const key = forgetIfRefused(opened, name, decrypt(kms, keyId, workspaceId, encrypted));
      remember(opened, name, key);
      return key;
    },
  };
}

async function generate(kms: KMSClient, keyId: string, workspaceId: string): Promise<DataKey> {
  const answer = await kms.send(
    new GenerateDataKeyCommand({ KeyId: keyId, KeySpec: "AES_256", EncryptionContext: contextOf(workspaceId) }),
  );
  if (!answer.Plaintext || !answer.CiphertextBlob) throw new Error(`KMS gave no data key by ${keyId}`);
  return { plain: answer.Plaintext, encrypted: Buffer.from(answer.CiphertextBlob) };
}

async function decrypt(kms: KMSClient, keyId: string, workspaceId: string, encrypted: Buffer): Promise<Uint8Array> {
  const answer = await kms.send(
    new DecryptCommand({ KeyId: keyId, CiphertextBlob: encrypted, EncryptionContext: contextOf(workspaceId) }),
  );
  if (!answer.Plaintext) throw new Error(`KMS did not open a data key of workspace ${workspaceId} by ${keyId}`);
  return answer.Plaintext;
}

const contextOf = (workspaceId: string): Record<string, string> => ({ workspace_id: workspaceId });

/** A call that failed is not remembered: the next asks again. */
function forgetIfRefused<Value>(map: Map<string, unknown>, name: string, value: Promise<Value>): Promise<Value> {
  value.catch(() => map.delete(name));
  return value;
}

function remember<Value>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name);
  map.set(name, value);
  const oldest = map.keys().next();
  if (map.size > MAX_REMEMBERED && !oldest.done) map.delete(oldest.value);
}
