/** Every code that an answer of the API can carry, with its HTTP status (contract 7, and codes beyond it). */
export const STATUS_OF = {
  VALIDATION_ERROR: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  WORKSPACE_NOT_FOUND: 404,
  MAPPING_NOT_FOUND: 404,
  BASELINE_NOT_FOUND: 404,
  WEBHOOK_NOT_FOUND: 404,
  DELIVERY_NOT_FOUND: 404,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  CURSOR_EXPIRED: 410,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_MISMATCH: 422,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  UNAVAILABLE: 503,
} as const;

export type FailureCode = keyof typeof STATUS_OF;

/** One bad part of a request: where it is (`mappings[3].config.upsert_field`) and what would be right. */
export interface FailureDetail {
  readonly path: string;
  readonly message: string;
}

/** A refusal that is meant for the caller; anything else that is thrown is a fault and answers INTERNAL_ERROR. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly details: readonly FailureDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: FailureCode,
    message: string,
    more: { readonly details?: readonly FailureDetail[]; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.name = "Failure";
    this.code = code;
    this.details = more.details ?? [];
    this.headers = more.headers ?? {};
  }

  get status(): number {
    return STATUS_OF[this.code];
  }
}
