import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { invalidCiphertext } from "./errors.ts";
import type { Key } from "./key-ring.ts";

/** What must be the same when a ciphertext is opened as when it was sealed. */
export type EncryptionContext = Readonly<Record<string, string>>;

const VERSION = 1;
const ID_END = 17;
const IV_END = ID_END + 12;
const TAG_END = IV_END + 16;

/** Encrypts with AES-256-GCM: version (1 byte), key id (16), nonce (12), tag (16), then the ciphertext. */
export function seal(key: Key, plaintext: Buffer, context: EncryptionContext): Buffer {
  const header = Buffer.concat([Buffer.of(VERSION), Buffer.from(key.id.replaceAll("-", ""), "hex")]);
  const iv = randomBytes(IV_END - ID_END);
  const cipher = createCipheriv("aes-256-gcm", Buffer.from(key.material, "base64"), iv);
  cipher.setAAD(boundTo(header, context));
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([header, iv, cipher.getAuthTag(), body]);
}

/** The id of the key that a ciphertext was sealed with. Throws InvalidCiphertextException when it is none of ours. */
export function keyIdOf(sealed: Buffer): string {
  if (sealed.length < TAG_END || sealed[0] !== VERSION) throw invalidCiphertext();
  return sealed.toString("hex", 1, ID_END).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Decrypts what `seal` made. Throws InvalidCiphertextException when anything differs. */
export function open(key: Key, sealed: Buffer, context: EncryptionContext): Buffer {
  const decipher = createDecipheriv(
    "aes-256-gcm",
    Buffer.from(key.material, "base64"),
    sealed.subarray(ID_END, IV_END),
  );
  decipher.setAAD(boundTo(sealed.subarray(0, ID_END), context));
  decipher.setAuthTag(sealed.subarray(IV_END, TAG_END));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(TAG_END)), decipher.final()]);
  } catch {
    throw invalidCiphertext();
  }
}

function boundTo(header: Buffer, context: EncryptionContext): Buffer {
  const pairs = Object.entries(context).sort(([a], [b]) => (a < b ? -1 : 1));
  return Buffer.concat([header, Buffer.from(JSON.stringify(pairs))]);
}
