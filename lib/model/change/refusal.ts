import { cutText } from "../cut-text.ts";

/** What a refusal of a whole request means for us (salesforce-facts 7 and 8). */
export type RefusalKind =
  /** The session has ended and could not be renewed: authorisation is refused until a person acts. */
  | "session"
  /** The org's daily calls are used up. */
  | "limit"
  /** The org's API is switched off. */
  | "disabled"
  /** The org takes no writes during maintenance; it may be read. */
  | "readOnly"
  /** The org has no storage left for new records. */
  | "storageFull"
  /** Too much at once; clears in seconds. */
  | "busy"
  /** The object or a field that the mapping names is not there, or not for our user. */
  | "mapping"
  /** Salesforce would go through too many records to find those that our user may see. */
  | "tooLarge"
  /** The window asked of getDeleted is outside what the org still knows. */
  | "replication"
  /** A paged query's place is forgotten; it is asked again from the last record that was read. */
  | "locator"
  /** The request was wrong; asking again will not help. */
  | "bug"
  /** An outage, a time-out, a broken connection. */
  | "transient";

/** A refusal by Salesforce of a whole request: no record of it was judged. */
export interface RequestRefusal {
  readonly kind: RefusalKind;
  /** Salesforce's code, or ours for what never became an answer: `TIMEOUT`, `UNREACHABLE`, `REDIRECTED`, `BROKEN_ANSWER`, `ABORTED`, `JWT_REFUSED`. */
  readonly code: string;
  readonly message: string;
  /** Whether the request may have been carried out all the same: a write is then in doubt. */
  readonly mayHaveRun: boolean;
}

/** Thrown by the connected org for a request that was refused or lost as a whole. */
export class SalesforceRefusal extends Error {
  readonly refusal: RequestRefusal;

  constructor(refusal: RequestRefusal, cause?: unknown) {
    super(`${refusal.code}: ${refusal.message}`, { cause });
    this.name = "SalesforceRefusal";
    this.refusal = refusal;
  }
}

/** Whether the org, or this object, does not have what was asked for, as some have no Bulk API. */
export const isUnsupported = (error: unknown): error is SalesforceRefusal =>
  error instanceof SalesforceRefusal && UNSUPPORTED.has(error.refusal.kind);

const UNSUPPORTED: ReadonlySet<RefusalKind> = new Set(["bug", "mapping", "tooLarge"]);

/**
 * An answer of 400 or above, by the table of Salesforce's status codes. Every fault of SOAP comes with status 500, so there
 * a code that is not known says that the request was wrong.
 */
export function refusalOf(status: number, code: string, message: string, isFault = false): RequestRefusal {
  const kind = kindOf(isFault && !SERVER_FAULTS.has(code) ? 400 : status, code, message);
  return { kind, code, message: cutText(message), mayHaveRun: kind === "transient" && status >= 500 };
}

/** Faults of SOAP that are the server's own trouble. */
const SERVER_FAULTS = new Set(["Server", "REQUEST_RUNNING_TOO_LONG", "TXN_SECURITY_METERING_ERROR"]);

/**
 * Whether one record of a save may be why the whole call was refused: a character that is no XML, a value that is none
 * of its type, a field that is not there, more than a call may hold. Errors of the org or our user are not.
 */
export function mayBeOneRecords({ kind, code, mayHaveRun }: RequestRefusal): boolean {
  if (mayHaveRun) return false;
  if (kind === "mapping") return code === "INVALID_FIELD" || code === "INVALID_FIELD_FOR_INSERT_UPDATE";
  return kind === "bug" && !NOT_A_RECORDS.has(code);
}

const NOT_A_RECORDS = new Set([
  "FUNCTIONALITY_NOT_ENABLED",
  "INVALID_AUTH_HEADER",
  "INVALID_LOGIN",
  "INVALID_OPERATION",
  "METHOD_NOT_ALLOWED",
  "UNSUPPORTED_API_VERSION",
  "VersionMismatch",
]);

function kindOf(status: number, code: string, message: string): RefusalKind {
  if (PASSING_WORDS.test(message)) return "transient";
  const named = orgKindOf(code, message) ?? KINDS[code];
  const known = status === 401 && named !== "transient" ? "session" : named;
  if (known) return known;
  if (status >= 500 || TRANSIENT_STATUSES.has(status)) return "transient";
  return "bug";
}

/** The token endpoint says of these that the same request will be answered later, under codes that mean other things as well. */
const PASSING_WORDS = /token request is already being processed|retry your request|login rate exceeded/i;

/** What a code that names the org means; null: the code may be a record's (Salesforce, SOAP API, StatusCode). */
export function orgKindOf(code: string, message: string): RefusalKind | null {
  if (code === "REQUEST_LIMIT_EXCEEDED") return /TotalRequests/i.test(message) ? "limit" : "busy";
  return ORG_CODES[code] ?? null;
}

const ORG_CODES: Readonly<Record<string, RefusalKind>> = {
  API_CURRENTLY_DISABLED: "disabled",
  API_DISABLED_FOR_ORG: "disabled",
  EXCEEDED_QUOTA: "storageFull",
  FUNCTIONALITY_TEMPORARILY_UNAVAILABLE: "busy",
  INSERT_UPDATE_DELETE_NOT_ALLOWED_DURING_MAINTENANCE: "readOnly",
  INVALID_SESSION_ID: "session",
  ORG_LOCKED: "disabled",
  SERVER_UNAVAILABLE: "transient",
  STORAGE_LIMIT_EXCEEDED: "storageFull",
  TRIAL_EXPIRED: "disabled",
};

const TRANSIENT_STATUSES = new Set([406, 408, 420, 429]);

const KINDS: Readonly<Record<string, RefusalKind>> = {
  INVALID_FIELD: "mapping",
  INVALID_TYPE: "mapping",
  INVALID_FIELD_FOR_INSERT_UPDATE: "mapping",
  NOT_FOUND: "mapping",
  INSUFFICIENT_ACCESS: "mapping",
  INVALID_REPLICATION_DATE: "replication",
  EXCEEDED_ID_LIMIT: "replication",
  INVALID_OPERATION_WITH_EXPIRED_PASSWORD: "session",
  INVALID_QUERY_LOCATOR: "locator",
  OPERATION_TOO_LARGE: "tooLarge",
  QUERY_TIMEOUT: "busy",
  UNKNOWN_EXCEPTION: "transient",
  LOGIN_RATE_EXCEEDED: "transient",
  rate_limit_exceeded: "transient",
  server_error: "transient",
  temporarily_unavailable: "transient",
  unknown_error: "transient",
};
