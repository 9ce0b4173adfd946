import type { Refusal } from "../refusal.ts";

/** The error array of REST, the same for a request alone and for one inside of another (salesforce-facts 8). */
export function errorsOf({ code, message, fields }: Refusal): readonly object[] {
  const isRecordLevel = fields.length > 0 || RECORD_LEVEL.has(code);
  return [{ message, errorCode: code, ...(isRecordLevel ? { fields } : {}) }];
}

/** Codes that speak of a record and therefore always say which fields, if any. */
const RECORD_LEVEL = new Set([
  "ENTITY_IS_DELETED",
  "DUPLICATE_VALUE",
  "FIELD_CUSTOM_VALIDATION_EXCEPTION",
  "UNABLE_TO_LOCK_ROW",
  "INVALID_CROSS_REFERENCE_KEY",
  "DELETE_FAILED",
]);
