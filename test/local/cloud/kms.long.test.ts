import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { DecryptCommand, DescribeKeyCommand, GenerateDataKeyCommand } from "@aws-sdk/client-kms";
import { expect, onTestFinished, test } from "vitest";
import { demandsOf } from "../../../lib/local/cloud/iam/demands.ts";
import { allows, readPolicy } from "../../../lib/local/cloud/iam/policy.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { startTestCloud } from "../../support/worlds/cloud.ts";

const ALIAS = "alias/bridge";
const CONTEXT = { workspace: "w_1", purpose: "credentials" };

test("a data key opens after a restart, under its own context alone, and neither damaged nor foreign", async () => {
  const dataDir = temporaryFolder();
  const first = await startTestCloud({ dataDir });
  const arn = first.kms.ensureKey(ALIAS);
  const { Plaintext, CiphertextBlob = new Uint8Array() } = await first.clients.kms.send(
    new GenerateDataKeyCommand({ KeyId: ALIAS, KeySpec: "AES_256", EncryptionContext: CONTEXT }),
  );
  await first.close();
  const { kms, clients, close } = await startTestCloud({ dataDir });
  onTestFinished(close);
  const open = (EncryptionContext?: Record<string, string>, blob = CiphertextBlob) =>
    clients.kms.send(new DecryptCommand({ CiphertextBlob: blob, ...(EncryptionContext && { EncryptionContext }) }));
  const damaged = Uint8Array.from(CiphertextBlob, (byte, at) => (at === CiphertextBlob.length - 1 ? byte ^ 1 : byte));

  expect(Plaintext).toHaveLength(32);
  expect(kms.ensureKey(ALIAS)).toBe(arn);
  for (const KeyId of [arn, arn.split("/").at(-1), ALIAS])
    expect((await clients.kms.send(new DescribeKeyCommand({ KeyId }))).KeyMetadata?.Arn).toBe(arn);
  expect((await open({ purpose: "credentials", workspace: "w_1" })).Plaintext).toEqual(Plaintext);
  for (const attempt of [
    open({ ...CONTEXT, workspace: "w_2" }),
    open(),
    open(CONTEXT, damaged),
    open(CONTEXT, Buffer.from("not one of ours, but long enough to be one of them")),
  ])
    await expect(attempt).rejects.toMatchObject({ name: "InvalidCiphertextException" });
});

test("keys lie in a file for its owner alone, and are not used when others can read it", async () => {
  const dataDir = temporaryFolder();
  const cloud = await startTestCloud({ dataDir });
  cloud.kms.ensureKey(ALIAS);
  await cloud.close();
  const file = join(dataDir, "kms-keys.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);

  chmodSync(file, 0o644);

  await expect(startTestCloud({ dataDir })).rejects.toThrow(`chmod 600 ${file}`);
});

const arnOf = (service: string, rest: string) => `arn:aws:${service}:eu-local-1:000000000000:${rest}`;

const grant = (Action: string, Resource: string, Condition?: object) =>
  readPolicy({ Statement: [{ Effect: "Allow", Action, Resource, ...(Condition && { Condition }) }] }, "a test");

/** Whether a policy lets a call of KMS through. */
function isOpen(statements: ReturnType<typeof readPolicy>, body: object): boolean {
  const asked = { service: "kms", method: "POST", url: new URL("http://localhost/"), action: "Decrypt", body };
  return demandsOf(asked, arnOf).every((demand) => allows(statements, demand));
}

test("a grant on what has a tag, whatever it says, opens nothing without the tag", () => {
  const tag = (name: string) => `secretsmanager:ResourceTag/${name}`;
  const action = "secretsmanager:GetSecretValue";
  const statements = grant(action, "*", { StringLike: { [tag("bridge-workspace")]: "?*" } });
  const resource = arnOf("secretsmanager", "secret:db");
  const tagged: Record<string, string>[] = [{ [tag("bridge-workspace")]: "ws_1" }];
  const others = [{ [tag("bridge-workspace")]: "" }, { [tag("other")]: "ws_1" }, {}];

  expect([...tagged, ...others].filter((keys) => allows(statements, { action, resource, keys }))).toEqual(tagged);
});

test("a key is opened by a grant on the key, never by one on its alias", () => {
  const [key, alias] = [arnOf("kms", "key/1234"), arnOf("kms", "alias/bridge")];

  for (const KeyId of ["1234", key]) expect(isOpen(grant("kms:*", key), { KeyId })).toBe(true);
  for (const KeyId of ["alias/bridge", alias]) expect(isOpen(grant("kms:*", alias), { KeyId })).toBe(false);
});
