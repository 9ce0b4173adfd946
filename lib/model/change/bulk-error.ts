import { cutText } from "../cut-text.ts";
import type { RecordError } from "../record/record.ts";

/**
 * Reads the `sf__Error` of a job of the Bulk API, `CODE:message:Field, Field --`, whose message may hold colons and whose
 * fields may be missing. A long one is cut before it is read.
 */
export function bulkError(whole: string): RecordError {
  const text = cutText(whole);
  const [, code, rest = ""] = /^([A-Z][A-Z0-9_]*):([\s\S]*)$/.exec(text) ?? [];
  if (code === undefined) return { code: "UNKNOWN_EXCEPTION", message: text, fields: [] };
  const match = /^([\s\S]*):([\w.,\s]*)--\s*$/.exec(rest);
  if (!match) return { code, message: rest.trimEnd().replace(/--$/, "").trimEnd(), fields: [] };
  const [, message = "", fields = ""] = match;
  return {
    code,
    message,
    fields: fields
      .split(",")
      .map((field) => field.trim())
      .filter((field) => field !== ""),
  };
}
