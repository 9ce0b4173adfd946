import type { CaptureOff } from "../../../model/change/capture-off.ts";
import { pushes } from "../../../model/mapping/mapping.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { literal, metadata, name, type Session } from "../session/sql.ts";
import { CAPTURE_TRIGGERS } from "./capture.ts";

const ASKED = `'{${CAPTURE_TRIGGERS.join(",")}}'::name[]`;

/** Everybody may read `pg_subscription_rel`, but not all of `pg_subscription`. */
const isSubscribed = (table: string): string => `EXISTS (SELECT FROM pg_subscription_rel f WHERE f.srrelid = ${table})`;

/**
 * An expression over `_bridge_state` (`state` is its alias) that every cycle asks, so it must cost next to nothing: how
 * each trigger of the table that has the name now is enabled, a letter each, and a dash for everything else that keeps
 * capture from working. `isCaptured` reads it, without another look into a large shape.
 */
export function captureSigns(schema: string, state: string): string {
  const table = `to_regclass(${literal(`${name(schema)}.`)} || quote_ident(${state}.table_name))`;
  return `(SELECT string_agg(CASE WHEN pg_has_role(p.proowner, c.relowner, 'USAGE') THEN t.tgenabled::text ELSE '-' END, '')
        FROM pg_class c, pg_trigger t, pg_proc p
        WHERE c.oid = ${table} AND t.tgrelid = c.oid AND t.tgname = ANY (${ASKED}) AND p.oid = t.tgfoid)
        || CASE WHEN ${isSubscribed(table)} THEN '-' ELSE '' END`;
}

/** Whether `captureSigns` has nothing to tell; else `readCaptureOff` says what. */
export const isCaptured = (shape: TableShape, signs: unknown): boolean =>
  !pushes(shape.direction) || (signs === lettersOf(shape) && !("capturing" in shape));

const lettersOf = ({ capture }: TableShape): string =>
  (capture === "always" ? "A" : "O").repeat(CAPTURE_TRIGGERS.length);

/**
 * An expression over `_bridge_state`: why the changes of the mapped table are not captured, as `CaptureOff` in JSON; NULL
 * where they are, where the mapping only reads from Salesforce, and where no table has the name.
 */
export const captureOff = (schema: string, state: string): string => `
  CASE WHEN ${state}.shape ->> 'direction' = 'sf_to_pg' THEN NULL
    WHEN ${state}.shape ? 'capturing' THEN '{"why": "unfinished"}'::jsonb
    ELSE (
      SELECT CASE
        WHEN ${isSubscribed("c.oid")} THEN '{"why": "subscription"}'::jsonb
        WHEN count(t.oid) < ${CAPTURE_TRIGGERS.length} THEN jsonb_build_object('why', 'triggers', 'triggers', (
          SELECT jsonb_agg(asked) FROM unnest(${ASKED}) AS asked WHERE (asked = ANY (array_agg(t.tgname))) IS NOT TRUE))
        WHEN bool_or(NOT pg_has_role(p.proowner, c.relowner, 'USAGE')) THEN jsonb_build_object('why', 'owner',
          'owner', pg_get_userbyid(c.relowner), 'member', pg_get_userbyid(min(p.proowner)))
      END
      FROM pg_class c LEFT JOIN pg_trigger t ON t.tgrelid = c.oid AND t.tgname = ANY (${ASKED})
        AND t.tgenabled = CASE ${state}.shape ->> 'capture' WHEN 'always' THEN 'A' ELSE 'O' END
      LEFT JOIN pg_proc p ON p.oid = t.tgfoid
      WHERE c.relnamespace = ${literal(name(schema))}::regnamespace AND c.relname = ${state}.table_name
      GROUP BY c.oid, c.relowner
    )
  END`;

/** The same of one mapping. */
export async function readCaptureOff(session: Session, schema: string, mappingId: string): Promise<CaptureOff | null> {
  const [row] = await session.query<{ off: CaptureOff | null }>(
    `SELECT ${captureOff(schema, "s")} AS off FROM ${metadata(schema).state} s WHERE s.mapping_id = $1`,
    [mappingId],
  );
  return row?.off ?? null;
}
