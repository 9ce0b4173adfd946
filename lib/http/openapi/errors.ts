import type { FailureCode } from "../../model/failure.ts";

/** When each code is answered, and what the caller does about it. A code without an entry does not compile. */
export const ERRORS: Readonly<Record<FailureCode, readonly [when: string, remedy: string]>> = {
  VALIDATION_ERROR: [
    "A parameter, a header or a part of the body is not acceptable.",
    "Correct what `error.details` names; each says what would be right.",
  ],
  UNAUTHORIZED: [
    "There is no token, or it is unknown, revoked or past its time.",
    "Send `Authorization: Bearer <token>`; make a new token in the settings (API Tokens).",
  ],
  FORBIDDEN: [
    "The token belongs to another workspace, or lacks the scope that the message names.",
    "Use a token of the workspace in the path, made with that scope.",
  ],
  WORKSPACE_NOT_FOUND: [
    "There is no such workspace.",
    "Compare the id in the path with that of `bridge workspace` or the console.",
  ],
  MAPPING_NOT_FOUND: ["The workspace has no such mapping.", "Take the id from `GET …/mappings?include=inactive`."],
  BASELINE_NOT_FOUND: [
    "No baseline was saved.",
    "Save one with `POST …/config/baseline`; drift is measured against it.",
  ],
  WEBHOOK_NOT_FOUND: ["The workspace has no such webhook.", "Take the id from `GET …/webhooks`."],
  DELIVERY_NOT_FOUND: [
    "The webhook has no such delivery, or no longer.",
    "Take the id from `GET …/webhooks/<id>/deliveries`; they are kept 30 days.",
  ],
  NOT_FOUND: [
    "There is no such endpoint, or nothing with this id.",
    "Compare the path with `/openapi`, and the id with the list it came from.",
  ],
  METHOD_NOT_ALLOWED: ["The path answers to other methods.", "Use one of those that the header `Allow` names."],
  CONFLICT: [
    "Something else has the name, changes it right now, or a connection is missing.",
    "Read the message; with `Retry-After` ask again after that time.",
  ],
  CURSOR_EXPIRED: [
    "The cursor reaches further back than the log, or its database was replaced.",
    "Ask again without `since`, and compare your copy with the tables once.",
  ],
  PRECONDITION_FAILED: [
    "It was changed since the version that `If-Match` names.",
    "Read it again, and send the change with its new version.",
  ],
  PAYLOAD_TOO_LARGE: ["The body is larger than 1 MiB, or nested deeper than 32.", "Send it in parts."],
  UNSUPPORTED_MEDIA_TYPE: ["The body is not JSON.", "Send `Content-Type: application/json`."],
  IDEMPOTENCY_MISMATCH: ["The `Idempotency-Key` was given to another request.", "Use a new key for a new request."],
  RATE_LIMITED: [
    "The address made more requests in this minute than are answered.",
    "Wait the seconds of `Retry-After`; `RateLimit` says before what is left.",
  ],
  INTERNAL_ERROR: [
    "A fault of the service, or the database could not be asked.",
    "Ask again; when it stays, give the operator the `X-Request-Id`.",
  ],
  UNAVAILABLE: [
    "All connections to the database are in use, or it does not answer and another request waits for it; or the service itself is overloaded.",
    "Ask again after the seconds of `Retry-After`.",
  ],
};
