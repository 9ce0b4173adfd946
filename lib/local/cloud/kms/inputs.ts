import * as z from "zod/mini";

/** What every action accepts; bytes travel as base64. A parameter that is not listed is refused. */

const KeyId = z.string().check(z.minLength(1), z.maxLength(2_048));
const AliasName = z.string().check(z.minLength(1), z.maxLength(256));
const EncryptionContext = z._default(z.record(z.string().check(z.minLength(1)), z.string()), {});
const EncryptionAlgorithm = z.optional(z.literal("SYMMETRIC_DEFAULT"));
const bytes = (most: number) =>
  z.pipe(
    z.base64(),
    z.transform((text, context) => {
      const decoded = Buffer.from(text, "base64");
      if (decoded.length < 1 || decoded.length > most) {
        context.issues.push({ code: "custom", message: `must have 1 to ${most} bytes`, input: text });
      }
      return decoded;
    }),
  );
const dataKey = z.strictObject({
  KeyId,
  EncryptionContext,
  KeySpec: z.optional(z.enum(["AES_256", "AES_128"])),
  NumberOfBytes: z.optional(z.int().check(z.minimum(1), z.maximum(1_024))),
});

export const inputs = {
  CreateKey: z.strictObject({
    Description: z._default(z.string().check(z.maxLength(8_192)), ""),
    KeyUsage: z.optional(z.literal("ENCRYPT_DECRYPT")),
    KeySpec: z.optional(z.literal("SYMMETRIC_DEFAULT")),
  }),
  DescribeKey: z.strictObject({ KeyId }),
  DisableKey: z.strictObject({ KeyId }),
  EnableKey: z.strictObject({ KeyId }),
  ScheduleKeyDeletion: z.strictObject({
    KeyId,
    PendingWindowInDays: z._default(z.int().check(z.minimum(7), z.maximum(30)), 30),
  }),
  CancelKeyDeletion: z.strictObject({ KeyId }),
  CreateAlias: z.strictObject({ AliasName, TargetKeyId: KeyId }),
  DeleteAlias: z.strictObject({ AliasName }),
  ListAliases: z.strictObject({ KeyId: z.optional(KeyId) }),
  Encrypt: z.strictObject({ KeyId, Plaintext: bytes(4_096), EncryptionContext, EncryptionAlgorithm }),
  Decrypt: z.strictObject({
    KeyId: z.optional(KeyId),
    CiphertextBlob: bytes(6_144),
    EncryptionContext,
    EncryptionAlgorithm,
  }),
  GenerateDataKey: dataKey,
  GenerateDataKeyWithoutPlaintext: dataKey,
};

/** The input of one action by the action's name. */
export type KmsInput<Action extends keyof typeof inputs> = z.output<(typeof inputs)[Action]>;
