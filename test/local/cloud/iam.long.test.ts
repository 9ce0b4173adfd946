import { expect, test } from "vitest";
import { demandsOf } from "../../../lib/local/cloud/iam/demands.ts";
import { allows, readPolicy } from "../../../lib/local/cloud/iam/policy.ts";

const arnOf = (service: string, rest: string) => `arn:aws:${service}:eu-local-1:000000000000:${rest}`;

/** Whether a policy that allows everything of KMS on one resource lets a call with this key through. */
function isOpen(resource: string, KeyId: string): boolean {
  const statements = readPolicy({ Statement: [{ Effect: "Allow", Action: "kms:*", Resource: resource }] }, "a test");
  const url = new URL("http://localhost/");
  const demands = demandsOf({ service: "kms", method: "POST", url, action: "Encrypt", body: { KeyId } }, arnOf);
  return demands.every((demand) => allows(statements, demand));
}

test("a grant on one encryption context opens no other", () => {
  const Condition = { StringEquals: { "kms:EncryptionContext:workspace_id": "service" } };
  const own = readPolicy({ Statement: [{ Effect: "Allow", Action: "kms:*", Resource: "*", Condition }] }, "a test");
  const isOpenFor = (EncryptionContext?: Record<string, string>) => {
    const url = new URL("http://localhost/");
    const asked = {
      service: "kms",
      method: "POST",
      url,
      action: "Decrypt",
      body: { KeyId: "1234", EncryptionContext },
    };
    return demandsOf(asked, arnOf).every((demand) => allows(own, demand));
  };

  expect(isOpenFor({ workspace_id: "service" })).toBe(true);
  expect(isOpenFor({ workspace_id: "ws_1" })).toBe(false);
  expect(isOpenFor({ other: "service" })).toBe(false);
  expect(isOpenFor()).toBe(false);
});

test("a grant on what has a tag, whatever it says, opens nothing without the tag", () => {
  const Condition = { StringLike: { "secretsmanager:ResourceTag/bridge-workspace": "?*" } };
  const grant = { Effect: "Allow", Action: "secretsmanager:GetSecretValue", Resource: "*", Condition };
  const statements = readPolicy({ Statement: [grant] }, "a test");
  const isOpenWith = (keys?: Record<string, string>) =>
    allows(statements, {
      action: "secretsmanager:GetSecretValue",
      resource: arnOf("secretsmanager", "secret:db"),
      ...(keys && { keys }),
    });

  expect(isOpenWith({ "secretsmanager:ResourceTag/bridge-workspace": "ws_1" })).toBe(true);
  expect(isOpenWith({ "secretsmanager:ResourceTag/bridge-workspace": "" })).toBe(false);
  expect(isOpenWith({ "secretsmanager:ResourceTag/other": "ws_1" })).toBe(false);
  expect(isOpenWith()).toBe(false);
});

test("a key is opened by a grant on the key, never by one on its alias", () => {
  const [key, alias] = [arnOf("kms", "key/1234"), arnOf("kms", "alias/bridge")];

  expect([isOpen(key, "1234"), isOpen(key, key)]).toEqual([true, true]);
  expect([isOpen(alias, "alias/bridge"), isOpen(alias, alias)]).toEqual([false, false]);
});
