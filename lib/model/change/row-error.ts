import { cutText } from "../cut-text.ts";
import type { Operation, RecordError } from "../record/record.ts";
import { type MissingParent, missingParentIn } from "./missing-parent.ts";
import { orgKindOf, type RequestRefusal } from "./refusal.ts";

/** Times that a record is sent again after an error that may pass, before it ends FAILED. */
export const MAX_RETRIES = 5;

/**
 * What a record's refusal means: done all the same, retry later, an operator must act, the reason of all records of its
 * call, or the org's, which says nothing of the record.
 */
export type Verdict =
  | { readonly kind: "accepted" }
  | { readonly kind: "retry"; readonly afterSeconds: number }
  | { readonly kind: "refused" }
  /** Triggers and flows could not bear so many records at once. */
  | { readonly kind: "tooMany" }
  /** It names a parent that Salesforce does not have, and waits for it: that is no attempt. */
  | { readonly kind: "parentMissing"; readonly parent: MissingParent }
  | { readonly kind: "org"; readonly refusal: RequestRefusal };

/** Judges one record's errors (salesforce-facts 8). `random` is in [0, 1) and spreads the retries. */
export function judge(operation: Operation, errors: readonly RecordError[], attempts: number, random: number): Verdict {
  if (operation === "delete" && errors.some(({ code }) => GONE.has(code))) return { kind: "accepted" };
  const refusal = orgRefusalIn(errors);
  if (refusal) return { kind: "org", refusal };
  if (isTooMany(errors)) return { kind: "tooMany" };
  const parent = missingParentIn(errors);
  if (parent) return { kind: "parentMissing", parent };
  const passing = errors.length > 0 && errors.every((error) => mayPass(error));
  if (!passing || attempts >= MAX_RETRIES) return { kind: "refused" };
  return { kind: "retry", afterSeconds: retryAfterSeconds(errors, attempts, random) };
}

/** The first of a record's errors that names the org; null: they are the record's. */
function orgRefusalIn(errors: readonly RecordError[]): RequestRefusal | null {
  for (const { code, message } of errors) {
    const kind = orgKindOf(code, message);
    if (kind) return { kind, code, message, mayHaveRun: false };
  }
  return null;
}

/**
 * One minute, doubling, up to a tenth more so that records refused together do not come back together. A row's lock lasts as
 * long as one transaction, mostly for less than a second: the first time it is waited for 5 to 10 s.
 */
function retryAfterSeconds(errors: readonly RecordError[], attempts: number, random: number): number {
  if (attempts === 0 && errors.every(isLock)) return Math.round(5 + 5 * random);
  return Math.round(60 * 2 ** attempts * (1 + random / 10));
}

/** `STATUS_CODE: message [fields]`, as `_ab_err` shows it; cut where it is long. */
export function errorText(errors: readonly RecordError[]): string {
  const texts = errors.map(({ code, message, fields }) => {
    return `${code}: ${message}${fields.length > 0 ? ` [${fields.join(", ")}]` : ""}`;
  });
  return cutText(texts.join("; "));
}

/** On delete these say that the record is not there: what was wanted. */
const GONE = new Set(["ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY", "NOT_FOUND", "INVALID_ID_FIELD"]);

const PASSING = new Set([
  "TXN_SECURITY_METERING_ERROR",
  "UNKNOWN_EXCEPTION",
  "REQUEST_RUNNING_TOO_LONG",
  "QUERY_TIMEOUT",
  "ALL_OR_NONE_OPERATION_ROLLED_BACK",
]);

/** A trigger that meets the lock of another record says so in its own error. */
const isLock = ({ code, message }: RecordError): boolean =>
  code === "UNABLE_TO_LOCK_ROW" ||
  (code === "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY" && message.includes("UNABLE_TO_LOCK_ROW"));

/** Whether triggers or flows (`CANNOT_EXECUTE_FLOW_TRIGGER`) have exceeded a limit of Apex, which is that of a whole call. */
export const isTooMany = (errors: readonly RecordError[]): boolean =>
  errors.some(({ message }) =>
    /System\.LimitException|Apex CPU time limit exceeded|Too many (?:SOQL queries|DML)/.test(message),
  );

function mayPass(error: RecordError): boolean {
  return PASSING.has(error.code) || isLock(error);
}
