import { expect, test } from "vitest";
import { bodyOf } from "../../lib/http/body.ts";
import type { GatewayEvent } from "../../lib/http/request.ts";

const parsed = (json: string) => {
  const event = { headers: { "content-type": "application/json" }, body: json, isBase64Encoded: false };
  bodyOf(event as unknown as GatewayEvent);
};

test.each([String.raw`{"a":{"b":["x","\ud800"]}}`, String.raw`{"a":{"b":["x",{"\udc00":1}]}}`])(
  "half a character is refused with its place: %s",
  (json) => {
    expect(() => parsed(json)).toThrow(expect.objectContaining({ code: "VALIDATION_ERROR" }));
    expect(() => parsed(json.replace("d800", "d83d\\ude00").replace("dc00", "d83d\\ude00"))).not.toThrow();
  },
);
