import type { IncomingMessage } from "node:http";
import { AwsError } from "./aws-error.ts";

const CREDENTIAL = /^AWS4-HMAC-SHA256 Credential=[^/,\s]+\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request,/;

/**
 * Refuses a request that is not signed for this region and service, as a mix-up of endpoints or regions would be on AWS.
 * The signature itself proves nothing here: every caller is on this machine.
 */
export function checkSignature(request: IncomingMessage, region: string, service: string): void {
  const authorization = request.headers.authorization;
  if (!authorization) throw refused("MissingAuthenticationTokenException", "The request is not signed.");
  const [, signedRegion, signedService] = CREDENTIAL.exec(authorization) ?? [];
  if (signedRegion === region && signedService === service) return;
  throw refused(
    "InvalidSignatureException",
    `Credential should be scoped to ${region}/${service}, not ${signedRegion ?? "?"}/${signedService ?? "?"}. Check AWS_REGION and the endpoint.`,
  );
}

function refused(name: string, message: string): AwsError {
  return new AwsError(name, message, { status: 403 });
}
