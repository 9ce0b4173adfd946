import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { AwsError } from "./aws-error.ts";

const CREDENTIAL = /^AWS4-HMAC-SHA256 Credential=([^/,\s]+)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request,/;

/**
 * Refuses a request that is not signed for this region and service, as a mix-up of endpoints or regions would be on
 * AWS, or with another access key id: it is the secret that other users of this machine do not know. The signature
 * itself is not checked, for there is nothing between a caller and this service.
 */
export function checkSignature(
  request: IncomingMessage,
  { region, accessKeyId }: { readonly region: string; readonly accessKeyId: string },
  service: string,
): void {
  const authorization = request.headers.authorization;
  if (!authorization) throw refused("MissingAuthenticationTokenException", "The request is not signed.");
  const [, key = "", signedRegion, signedService] = CREDENTIAL.exec(authorization) ?? [];
  if (signedRegion !== region || signedService !== service)
    throw refused(
      "InvalidSignatureException",
      `Credential should be scoped to ${region}/${service}, not ${signedRegion ?? "?"}/${signedService ?? "?"}. Check AWS_REGION and the endpoint.`,
    );
  if (!isSame(key, accessKeyId))
    throw refused(
      "UnrecognizedClientException",
      "The access key id is not this instance's: operator.json in its data folder has it, another one after each start.",
    );
}

const digest = (text: string) => createHash("sha256").update(text).digest();
const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other));

function refused(name: string, message: string): AwsError {
  return new AwsError(name, message, { status: 403 });
}
