import { createHmac } from "node:crypto";
import { Webhook as Verifier } from "standardwebhooks";
import { expect, test } from "vitest";
import { begin, newDelivery } from "../../lib/model/delivery/delivery.ts";
import { newSecret, signedRequest } from "../../lib/webhooks/sign.ts";

const body = JSON.stringify({ id: "evt_1", event: "record.failed", data: { error: 'Ärger, "quoted", 🚫 and\nlines' } });
const AT = new Date();
const current = newSecret();
const replaced = newSecret();

test("X-Bridge-Signature is of the body's bytes, by the secret exactly as it was shown, and a replaced one's is beside it", () => {
  const { headers } = request([replaced]);
  const hmac = (secret: string) => `sha256=${createHmac("sha256", secret).update(Buffer.from(body)).digest("hex")}`;

  expect(headers["x-bridge-signature"]).toBe(hmac(current));
  expect(headers["x-bridge-signature-previous"]).toBe(hmac(replaced));
});

test("the headers name event, delivery and attempt, and the official verifier takes them under the secret alone", () => {
  const { headers } = request([]);

  expect(headers).toMatchObject({
    "x-bridge-event": "record.failed",
    "x-bridge-delivery": "dlv_1",
    "x-bridge-attempt": "1",
    "webhook-id": "evt_1",
    "content-length": String(Buffer.byteLength(body)),
    "webhook-timestamp": String(Math.floor(AT.getTime() / 1000)),
  });
  expect(new Verifier(current).verify(body, { ...headers })).toEqual(JSON.parse(body));
  expect(() => new Verifier(replaced).verify(body, { ...headers })).toThrow();
});

function request(previous: readonly string[]) {
  const made = { id: "dlv_1", workspaceId: "ws_1", webhookId: "whk_1", eventId: "evt_1", createdAt: AT };
  const delivery = begin(newDelivery({ ...made, event: "record.failed", body }), "automatic", AT);
  if (delivery.latest === null) throw new Error("no attempt is under way");
  return signedRequest("https://example.com/hooks", delivery, delivery.latest, { current, previous });
}
