import { execFileSync, spawnSync } from "node:child_process";
import { Webhook as Verifier } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { begin, newDelivery } from "../../lib/model/delivery/delivery.ts";
import { newSecret, signedRequest } from "../../lib/webhooks/sign.ts";

const body = JSON.stringify({ id: "evt_1", event: "record.failed", data: { error: 'Ärger, "quoted", 🚫 and\nlines' } });
const AT = new Date();
const current = newSecret();
const replaced = newSecret();

describe("signatures", () => {
  test("the official verifier refuses a changed body, another secret and a replaced one after its time", () => {
    const { headers } = request([]);

    expect(() => new Verifier(current).verify(`${body} `, { ...headers })).toThrow();
    expect(() => new Verifier(newSecret()).verify(body, { ...headers })).toThrow();
    expect(() => new Verifier(replaced).verify(body, { ...headers })).toThrow();
  });

  test.skipIf(spawnSync("openssl", ["version"]).error)(
    "openssl reproduces X-Bridge-Signature with the secret exactly as it was shown",
    () => {
      const { headers } = request([replaced]);

      expect(headers["x-bridge-signature"]).toBe(`sha256=${opensslDigest(current)}`);
      expect(headers["x-bridge-signature-previous"]).toBe(`sha256=${opensslDigest(replaced)}`);
    },
  );

  test("the headers name event, delivery and attempt, and the event's id is the message's", () => {
    expect(request([]).headers).toMatchObject({
      "x-bridge-event": "record.failed",
      "x-bridge-delivery": "dlv_1",
      "x-bridge-attempt": "1",
      "webhook-id": "evt_1",
      "content-length": String(Buffer.byteLength(body)),
      "webhook-timestamp": String(Math.floor(AT.getTime() / 1000)),
    });
    expect(new Verifier(current).verify(body, { ...request([]).headers })).toEqual(JSON.parse(body));
  });
});

function request(previous: readonly string[]) {
  const made = { id: "dlv_1", workspaceId: "ws_1", webhookId: "whk_1", eventId: "evt_1", createdAt: AT };
  const delivery = begin(newDelivery({ ...made, event: "record.failed", body }), "automatic", AT);
  if (delivery.latest === null) throw new Error("no attempt is under way");
  return signedRequest("https://example.com/hooks", delivery, delivery.latest, { current, previous });
}

function opensslDigest(secret: string): string {
  const answer = execFileSync("openssl", ["dgst", "-sha256", "-hmac", secret, "-r"], { input: body, encoding: "utf8" });
  return answer.split(" ")[0] ?? "";
}
