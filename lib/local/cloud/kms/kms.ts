import { randomBytes } from "node:crypto";
import type { Clock } from "../../clock.ts";
import { AwsError } from "../aws-error.ts";
import type { JsonService } from "../json-service.ts";
import { invalid, invalidCiphertext, invalidState, refuse } from "./errors.ts";
import { inputs, type KmsInput } from "./inputs.ts";
import { type Key, KeyRing } from "./key-ring.ts";
import { type EncryptionContext, keyIdOf, open, seal } from "./seal.ts";

/** Where the keys are stored, and the parts of their names. */
export interface KmsSettings {
  readonly file: string;
  readonly clock: Clock;
  readonly region: string;
  readonly accountId: string;
}

/** KMS with symmetric keys. */
export interface Kms {
  readonly service: JsonService;
  /** The ARN of the key behind an alias such as `alias/bridge`; makes both when there is none. */
  ensureKey(alias: string): string;
}

const ALGORITHM = "SYMMETRIC_DEFAULT";
const MAXIMUM_CONTEXT_BYTES = 8_192;

/** Opens the keys of one file. */
export function openKms({ file, clock, region, accountId }: KmsSettings): Kms {
  const arnBase = `arn:aws:kms:${region}:${accountId}`;
  const ring = new KeyRing(file, arnBase);
  const actions = {
    CreateKey: ({ Description }: KmsInput<"CreateKey">) => ({
      KeyMetadata: metadataOf(ring, ring.create(Description, clock.now()), accountId),
    }),
    DescribeKey: ({ KeyId }: KmsInput<"DescribeKey">) => ({
      KeyMetadata: metadataOf(ring, ring.find(KeyId), accountId),
    }),
    DisableKey: ({ KeyId }: KmsInput<"DisableKey">) => switchKey(ring, KeyId, "Disabled"),
    EnableKey: ({ KeyId }: KmsInput<"EnableKey">) => switchKey(ring, KeyId, undefined),
    ScheduleKeyDeletion: ({ KeyId, PendingWindowInDays }: KmsInput<"ScheduleKeyDeletion">) => {
      const KeyState = "PendingDeletion"; // it stays so: no clock of this cloud deletes a key
      const DeletionDate = clock.now() / 1000 + PendingWindowInDays * 86_400;
      return { KeyId: ring.arnOf(ring.setState(KeyId, KeyState)), KeyState, DeletionDate, PendingWindowInDays };
    },
    CancelKeyDeletion: ({ KeyId }: KmsInput<"CancelKeyDeletion">) => {
      if (ring.find(KeyId).state !== "PendingDeletion") throw invalidState(`Key '${KeyId}' is not pending deletion.`);
      return { KeyId: ring.arnOf(ring.setState(KeyId, "Disabled")) };
    },
    CreateAlias: ({ AliasName, TargetKeyId }: KmsInput<"CreateAlias">) => ring.addAlias(AliasName, TargetKeyId),
    DeleteAlias: ({ AliasName }: KmsInput<"DeleteAlias">) => ring.removeAlias(AliasName),
    ListAliases: ({ KeyId }: KmsInput<"ListAliases">) => listAliases(ring, arnBase, KeyId),
    Encrypt: ({ KeyId, Plaintext, EncryptionContext }: KmsInput<"Encrypt">) => {
      const key = ring.usable(KeyId);
      const CiphertextBlob = seal(key, Plaintext, checked(EncryptionContext)).toString("base64");
      return { CiphertextBlob, KeyId: ring.arnOf(key), EncryptionAlgorithm: ALGORITHM };
    },
    Decrypt: (input: KmsInput<"Decrypt">) => decrypt(ring, input),
    GenerateDataKey: (input: KmsInput<"GenerateDataKey">) => generateDataKey(ring, input),
    GenerateDataKeyWithoutPlaintext: (input: KmsInput<"GenerateDataKeyWithoutPlaintext">) => {
      const { Plaintext: _, ...rest } = generateDataKey(ring, input);
      return rest;
    },
  };
  return {
    service: { targetPrefix: "TrentService", signingName: "kms", inputs, actions, refuse },
    ensureKey(alias) {
      if (!ring.aliases.some(([name]) => name === alias)) ring.addAlias(alias, ring.create(alias, clock.now()).id);
      return ring.arnOf(ring.find(alias));
    },
  };
}

/** A key that will be deleted takes no other state before that is cancelled. */
function switchKey(ring: KeyRing, name: string, state: Key["state"]): void {
  if (ring.find(name).state === "PendingDeletion") throw invalidState(`Key '${name}' is pending deletion.`);
  ring.setState(name, state);
}

function decrypt(ring: KeyRing, { KeyId, CiphertextBlob, EncryptionContext }: KmsInput<"Decrypt">) {
  const id = keyIdOf(CiphertextBlob);
  if (KeyId !== undefined && ring.find(KeyId).id !== id) {
    throw new AwsError(
      "IncorrectKeyException",
      "The key ID in the request does not identify the key of the ciphertext.",
    );
  }
  const key = known(ring, id);
  const Plaintext = open(key, CiphertextBlob, checked(EncryptionContext)).toString("base64");
  return { Plaintext, KeyId: ring.arnOf(key), EncryptionAlgorithm: ALGORITHM };
}

function known(ring: KeyRing, id: string): Key {
  try {
    ring.find(id);
  } catch (error) {
    throw error instanceof AwsError ? invalidCiphertext() : error;
  }
  return ring.usable(id);
}

function generateDataKey(
  ring: KeyRing,
  { KeyId, KeySpec, NumberOfBytes, EncryptionContext }: KmsInput<"GenerateDataKey">,
) {
  if ((KeySpec === undefined) === (NumberOfBytes === undefined)) {
    throw invalid("Please specify either number of bytes or key spec.");
  }
  const key = ring.usable(KeyId);
  const plaintext = randomBytes(NumberOfBytes ?? (KeySpec === "AES_256" ? 32 : 16));
  const CiphertextBlob = seal(key, plaintext, checked(EncryptionContext)).toString("base64");
  return { CiphertextBlob, Plaintext: plaintext.toString("base64"), KeyId: ring.arnOf(key) };
}

function listAliases(ring: KeyRing, arnBase: string, keyName: string | undefined) {
  const wanted = keyName === undefined ? undefined : ring.find(keyName).id;
  const found = ring.aliases.filter(([, keyId]) => wanted === undefined || keyId === wanted);
  const Aliases = found.map(([alias, id]) => ({ AliasName: alias, AliasArn: `${arnBase}:${alias}`, TargetKeyId: id }));
  return { Aliases, Truncated: false };
}

function checked(context: EncryptionContext): EncryptionContext {
  if (Buffer.byteLength(JSON.stringify(context)) <= MAXIMUM_CONTEXT_BYTES) return context;
  throw invalid(`The encryption context is longer than ${MAXIMUM_CONTEXT_BYTES} bytes.`);
}

function metadataOf(ring: KeyRing, key: Key, accountId: string) {
  return {
    AWSAccountId: accountId,
    Arn: ring.arnOf(key),
    KeyId: key.id,
    Description: key.description,
    CreationDate: key.createdAt / 1000,
    Enabled: key.state === undefined,
    KeyManager: "CUSTOMER",
    KeySpec: ALGORITHM,
    KeyState: key.state ?? "Enabled",
    KeyUsage: "ENCRYPT_DECRYPT",
    EncryptionAlgorithms: [ALGORITHM],
    MultiRegion: false,
    Origin: "AWS_KMS",
  };
}
