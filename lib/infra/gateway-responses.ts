import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";

type Refusal = readonly [status: number, code: string, message: string];

const NOT_FOUND: Refusal = [404, "NOT_FOUND", "There is no such endpoint. The endpoints are listed at /openapi.json."];
const FORBIDDEN: Refusal = [403, "FORBIDDEN", "This request is not allowed."];
const UNAUTHORIZED: Refusal = [401, "UNAUTHORIZED", "The API token is missing or invalid."];
const INVALID: Refusal = [400, "VALIDATION_ERROR", "The request is not well formed."];
const TOO_MANY: Refusal = [429, "RATE_LIMITED", "Too many requests. Wait a minute, then try again."];
const FAULT: Refusal = [
  500,
  "INTERNAL_ERROR",
  "An unexpected error occurred. Try again; if it stays, report it to the operator.",
];

/** No function could be called or answered: as where Lambda throttles it, for which the gateway has no type of its own. */
const UNAVAILABLE: Refusal = [
  503,
  "UNAVAILABLE",
  "The service did not answer. Try again in some seconds; if it stays, report it to the operator.",
];

/**
 * The gateway's own answers, by type: everything is in the contract's envelope (2.1) with one of the contract's codes
 * (7). The two defaults catch the types that are added to the platform later.
 */
export const GATEWAY_REFUSALS = {
  ACCESS_DENIED: FORBIDDEN,
  API_CONFIGURATION_ERROR: UNAVAILABLE,
  AUTHORIZER_CONFIGURATION_ERROR: FAULT,
  AUTHORIZER_FAILURE: FAULT,
  BAD_REQUEST_BODY: INVALID,
  BAD_REQUEST_PARAMETERS: INVALID,
  DEFAULT_4XX: INVALID,
  DEFAULT_5XX: FAULT,
  EXPIRED_TOKEN: UNAUTHORIZED,
  INTEGRATION_FAILURE: UNAVAILABLE,
  INTEGRATION_TIMEOUT: UNAVAILABLE,
  INVALID_API_KEY: FORBIDDEN,
  // An unknown path with an Authorization header is treated as a badly signed request of AWS's own kind.
  INVALID_SIGNATURE: NOT_FOUND,
  MISSING_AUTHENTICATION_TOKEN: NOT_FOUND,
  QUOTA_EXCEEDED: TOO_MANY,
  REQUEST_TOO_LARGE: [413, "PAYLOAD_TOO_LARGE", "The request body is too large."],
  RESOURCE_NOT_FOUND: NOT_FOUND,
  THROTTLED: TOO_MANY,
  UNAUTHORIZED,
  UNSUPPORTED_MEDIA_TYPE: [415, "UNSUPPORTED_MEDIA_TYPE", "The request body must be application/json."],
  WAF_FILTERED: FORBIDDEN,
} as const satisfies Record<string, Refusal>;

/** Seconds after which a caller may try again, by status. */
const RETRY_AFTER: Readonly<Record<number, number>> = { 429: 60, 503: 5 };

/** Puts every answer of the gateway's own into the envelope. */
export function addGatewayResponses(api: RestApi): void {
  for (const [type, [status, code, message]] of Object.entries(GATEWAY_REFUSALS)) {
    api.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(status),
      responseHeaders: {
        "Cache-Control": "'no-store'",
        "X-Content-Type-Options": "'nosniff'",
        ...(RETRY_AFTER[status] && { "Retry-After": `'${RETRY_AFTER[status]}'` }),
      },
      templates: { "application/json": inEnvelope(code, message) },
    });
  }
}

/** A refusal as the contract has it (2.1). */
export const inEnvelope = (code: string, message: string): string =>
  JSON.stringify({ success: false, error: { code, message } });
