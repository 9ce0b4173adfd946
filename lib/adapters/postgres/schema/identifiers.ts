import { createHash } from "node:crypto";
import { Failure } from "../../../model/failure.ts";
import { LONGEST_NAME_BYTES } from "../session/sql.ts";

/** Refuses names that PostgreSQL would cut or that belong to Bridge's own tables. `what`: as in `the table`. */
export function checkName(what: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes === 0 || bytes > LONGEST_NAME_BYTES || text.includes("\0") || text.includes("$bridge$")) {
    throw new Failure(
      "VALIDATION_ERROR",
      `${what} ${text} must have a name of 1 to ${LONGEST_NAME_BYTES} bytes; it has ${bytes}`,
    );
  }
  if (/^_bridge|^(_hc)?_trigger_log/i.test(text)) {
    throw new Failure(
      "VALIDATION_ERROR",
      `${what} cannot be named ${text}: names like _bridge… and _trigger_log… are Bridge's own`,
    );
  }
}

/**
 * Names that an index may have, the best first, each of at most 63 bytes: `contact_sfid_key`, which may be the name of
 * something else already, as of the indexes on `b_c` of `a` and on `c` of `a_b`; and one that is this column's alone.
 */
export function indexNames(table: string, column: string, kind: "key" | "idx"): readonly string[] {
  const whole = `${table}_${column}_${kind}`;
  const digest = createHash("sha256").update(`${table}.${column}`).digest("hex").slice(0, 12);
  return [...(Buffer.byteLength(whole) <= LONGEST_NAME_BYTES ? [whole] : []), `_bridge_${digest}_${kind}`];
}
