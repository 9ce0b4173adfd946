import { createHash, createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { Sha256 } from "../../../lib/adapters/dynamodb/sha256.ts";

const text = Buffer.from("what is signed");

async function digestOf(sha256: Sha256): Promise<string> {
  sha256.update(text.subarray(0, 4));
  sha256.update(text.subarray(4));
  return Buffer.from(await sha256.digest()).toString("hex");
}

test("the SDK's digest is SHA-256, and begins anew after a reset", async () => {
  const sha256 = new Sha256();
  const wanted = createHash("sha256").update(text).digest("hex");

  expect(await digestOf(sha256)).toBe(wanted);
  sha256.reset();
  expect(await digestOf(sha256)).toBe(wanted);
});

test.each([
  ["text", "AWS4 secret"],
  ["bytes", new Uint8Array(32).fill(7)],
  ["a part of a buffer", Buffer.from("xxsecretxx").subarray(2, 8)],
  ["a buffer", new Uint8Array(32).fill(9).buffer],
])("keyed with %s it is the HMAC, however often the key is used", async (_, key) => {
  const wanted = createHmac("sha256", typeof key === "string" ? key : Buffer.from(new Uint8Array(key)))
    .update(text)
    .digest("hex");

  expect(await digestOf(new Sha256(key))).toBe(wanted);
  expect(await digestOf(new Sha256(key))).toBe(wanted);
});
