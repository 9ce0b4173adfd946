import { createHmac, randomBytes } from "node:crypto";
import type { Attempt, Delivery } from "../model/delivery/delivery.ts";
import type { SignedRequest } from "./ports.ts";

const PREFIX = "whsec_";

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(32).toString("base64")}`;
}

/** The secrets that sign, as their owner was shown them. */
export interface SigningSecrets {
  readonly current: string;
  /** Those that a rotation replaced and that still sign, newest first. */
  readonly previous: readonly string[];
}

/**
 * The request of an attempt. `X-Bridge-Signature` (contract 6.3) is keyed with the secret as shown, prefix included, and
 * `X-Bridge-Signature-Previous` with each that it replaced; `webhook-signature` (Standard Webhooks 1.0) with the bytes
 * that a secret encodes, once for each that signs.
 */
export function signedRequest(
  url: string,
  delivery: Delivery,
  attempt: Attempt,
  { current, previous }: SigningSecrets,
): SignedRequest {
  const { body, eventId } = delivery;
  const timestamp = Math.floor(attempt.startedAt.getTime() / 1000);
  const replaced = previous.map((secret) => bridgeSignature(secret, body));
  const signed = `${eventId}.${timestamp}.${body}`;
  return {
    url,
    body,
    headers: {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      "user-agent": "Bridge-Webhooks/1",
      "x-bridge-signature": bridgeSignature(current, body),
      ...(previous.length > 0 && { "x-bridge-signature-previous": replaced.join(", ") }),
      "x-bridge-event": delivery.event,
      "x-bridge-delivery": delivery.id,
      "x-bridge-attempt": String(attempt.number),
      "webhook-id": eventId,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": [current, ...previous].map((secret) => standardSignature(secret, signed)).join(" "),
    },
  };
}

function bridgeSignature(secret: string, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

function standardSignature(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
