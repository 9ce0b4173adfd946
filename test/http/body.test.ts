import { expect, test } from "vitest";
import { bodyOf } from "../../lib/http/body.ts";
import type { GatewayEvent } from "../../lib/http/request.ts";

const parsed = (json: string, isBase64Encoded = false) => {
  const body = isBase64Encoded ? Buffer.from(json).toString("base64") : json;
  bodyOf({ headers: { "content-type": "application/json" }, body, isBase64Encoded } as unknown as GatewayEvent);
};

test("a body is refused above a megabyte, also encoded, and below 32 levels", () => {
  const ofBytes = (bytes: number) => JSON.stringify({ text: "x".repeat(bytes - 11) });
  const ofLevels = (levels: number) => `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
  const tooLarge = expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" });

  expect(() => parsed(ofBytes(1024 * 1024))).not.toThrow();
  expect(() => parsed(ofBytes(1024 * 1024), true)).not.toThrow();
  expect(() => parsed(ofBytes(1024 * 1024 + 1))).toThrow(tooLarge);
  expect(() => parsed(ofBytes(1024 * 1024 + 1), true)).toThrow(tooLarge);
  expect(() => parsed(JSON.stringify({ text: "é".repeat(600_000) }))).toThrow(tooLarge);
  expect(() => parsed(ofLevels(32))).not.toThrow();
  expect(() => parsed(ofLevels(33))).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
});

test.each([String.raw`{"a":{"b":["x","\ud800"]}}`, String.raw`{"a":{"b":["x",{"\udc00":1}]}}`])(
  "half a character is refused with its place: %s",
  (json) => {
    expect(() => parsed(json)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
    expect(() => parsed(json.replace("d800", "d83d\\ude00").replace("dc00", "d83d\\ude00"))).not.toThrow();
  },
);
