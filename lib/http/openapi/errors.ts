import type { FailureCode } from "../../model/failure.ts";

/** When each code is answered, and what the caller does about it. A code without an entry does not compile. */
export const ERRORS: Readonly<Record<FailureCode, readonly [when: string, remedy: string]>> = {
  VALIDATION_ERROR: [
    "A parameter, a header or a part of the body is not valid.",
    "Correct what `error.details` names; each detail says what is allowed.",
  ],
  UNAUTHORIZED: [
    "There is no token, or it is unknown, revoked or expired.",
    "Send `Authorization: Bearer <token>`; create a new token in the settings (API Tokens).",
  ],
  FORBIDDEN: [
    "The token belongs to another workspace, or lacks the scope that the message names.",
    "Use a token of the workspace in the path, with that scope.",
  ],
  WORKSPACE_NOT_FOUND: [
    "There is no such workspace.",
    "Compare the id in the path with that of `bridge whoami` or the console.",
  ],
  MAPPING_NOT_FOUND: ["The workspace has no such mapping.", "Take the id from `GET …/mappings?include=inactive`."],
  BASELINE_NOT_FOUND: [
    "No baseline was saved.",
    "Save one with `POST …/config/baseline`; drift is measured against it.",
  ],
  WEBHOOK_NOT_FOUND: ["The workspace has no such webhook.", "Take the id from `GET …/webhooks`."],
  DELIVERY_NOT_FOUND: [
    "The webhook has no such delivery, or it has expired.",
    "Take the id from `GET …/webhooks/<id>/deliveries`; deliveries are kept for 30 days by default.",
  ],
  NOT_FOUND: [
    "There is no such endpoint, or nothing with this id.",
    "Compare the path with `/openapi`, and the id with the list it came from.",
  ],
  METHOD_NOT_ALLOWED: [
    "The path does not support this method.",
    "Use one of the methods that the header `Allow` names.",
  ],
  CONFLICT: [
    "The name is in use, another request is changing the same thing, or a connection is missing.",
    "Read the message; if there is a `Retry-After`, send the request again after that time.",
  ],
  CURSOR_EXPIRED: [
    "The cursor reaches further back than the log, or its database was replaced.",
    "Begin again without `since`, and compare your copy with the tables once.",
  ],
  PRECONDITION_FAILED: [
    "The resource was changed since the version that `If-Match` names.",
    "Read it again, and send the change with its new version.",
  ],
  PAYLOAD_TOO_LARGE: ["The body is larger than 1 MiB, or nested deeper than 32.", "Send it in parts."],
  UNSUPPORTED_MEDIA_TYPE: ["The body is not JSON.", "Send `Content-Type: application/json`."],
  IDEMPOTENCY_MISMATCH: ["The `Idempotency-Key` was given to another request.", "Use a new key for a new request."],
  RATE_LIMITED: [
    "The address has sent more requests in this minute than its limit.",
    "Wait the seconds of `Retry-After`; the header `RateLimit` shows how many requests remain.",
  ],
  INTERNAL_ERROR: [
    "The service has a fault, or it could not read the database.",
    "Send the request again; if it fails again, give the operator the `X-Request-Id`.",
  ],
  UNAVAILABLE: [
    "All connections to the database are in use, or your own transactions locked the same rows four times in a row, or the database does not answer and another request already waits for it, or the service is overloaded.",
    "Send the request again after the seconds of `Retry-After`.",
  ],
};
