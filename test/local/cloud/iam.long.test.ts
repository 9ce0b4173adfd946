import { expect, test } from "vitest";
import { demandsOf } from "../../../lib/local/cloud/iam/demands.ts";
import { allows, readPolicy } from "../../../lib/local/cloud/iam/policy.ts";

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
