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

test("a key is opened by a grant on the key, never by one on its alias", () => {
  const [key, alias] = [arnOf("kms", "key/1234"), arnOf("kms", "alias/bridge")];

  expect([isOpen(key, "1234"), isOpen(key, key)]).toEqual([true, true]);
  expect([isOpen(alias, "alias/bridge"), isOpen(alias, alias)]).toEqual([false, false]);
});
