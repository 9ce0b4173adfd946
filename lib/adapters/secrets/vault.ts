import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Vault } from "../../access/ports.ts";
import type { DataKeys } from "./data-keys.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Envelope encryption: each text is sealed with AES-256-GCM under a data key of its workspace, and carries that key
 * encrypted by KMS: `v1.<encrypted key>.<nonce, ciphertext and tag>`, both in base64url. The workspace is KMS's
 * encryption context and GCM's additional data, so a sealed text that was moved to another workspace does not open.
 */
export function envelopeVault(keys: DataKeys): Vault {
  return {
    seal: async (workspaceId, plaintext) => {
      const key = await keys.current(workspaceId);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key.plain, nonce).setAAD(Buffer.from(workspaceId));
      const sealed = Buffer.concat([nonce, cipher.update(plaintext, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return ["v1", key.encrypted.toString("base64url"), sealed.toString("base64url")].join(".");
    },

    open: async (workspaceId, text) => {
      const [version, encryptedKey, body] = text.split(".");
      if (version !== "v1" || encryptedKey === undefined || body === undefined) {
        throw new Error(`a sealed text of workspace ${workspaceId} is not of version v1`);
      }
      const key = await keys.decrypt(workspaceId, Buffer.from(encryptedKey, "base64url"));
      const bytes = Buffer.from(body, "base64url");
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(workspaceId));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString(
        "utf8",
      );
    },
  };
}
