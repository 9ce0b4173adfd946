import type { CaptureOff } from "../../../model/change/capture-off.ts";
import { pushes } from "../../../model/mapping/mapping.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import { literal, metadata, name, OWN_COLUMNS, type Session } from "../session/sql.ts";
import { CAPTURE_TRIGGERS } from "./capture.ts";
import { tableDigest } from "./catalog.ts";
import { functionNameOf } from "./own-functions.ts";

const ASKED = `'{${CAPTURE_TRIGGERS.join(",")}}'::name[]`;

/** Every role may read `pg_subscription_rel`, but not all of `pg_subscription`. */
const isSubscribed = (table: string): string => `EXISTS (SELECT FROM pg_subscription_rel f WHERE f.srrelid = ${table})`;

/** The mark of a table of which row-level security hides rows from us. */
const HIDDEN = "!";

/** The mark of a table that is not as the layout says, or was not there. */
const CHANGED = "~";

/**
 * An expression over `_bridge_state` (`state` is its alias) that every cycle asks, so it must cost next to nothing: how
 * each trigger of the table that has the name now is enabled, a letter each, a dash for everything else that keeps
 * capture from working, `!` where rows are hidden from us, and `~` where the application has changed the table. NULL: no table has the name. `isCaptured`
 * and `isChanged` read it, without another look into a large shape.
 */
export function captureSigns(schema: string, state: string): string {
  return `(SELECT coalesce((
        SELECT string_agg(CASE WHEN pg_has_role(p.proowner, c.relowner, 'USAGE') THEN t.tgenabled::text ELSE '-' END, '')
        FROM pg_trigger t, pg_proc p WHERE t.tgrelid = c.oid AND t.tgname = ANY (${ASKED}) AND p.oid = t.tgfoid), '')
        || CASE WHEN c.relispartition OR ${isSubscribed("c.oid")} THEN '-' ELSE '' END
        || CASE WHEN row_security_active(c.oid) THEN '${HIDDEN}' ELSE '' END
        || CASE WHEN ${state}.layout ->> 'digest' <> ${tableDigest("c")} THEN '${CHANGED}' ELSE '' END
      FROM pg_class c WHERE c.relkind = 'r'
        AND c.oid = to_regclass(${literal(`${name(schema)}.`)} || quote_ident(${state}.table_name))::oid)`;
}

/** Whether `captureSigns` finds nothing but perhaps a changed table; else `readCaptureOff` says what. */
export const isCaptured = (shape: TableShape, signs: unknown): boolean =>
  typeof signs === "string" &&
  !signs.includes(HIDDEN) &&
  (!pushes(shape.direction) || (signs.replace(CHANGED, "") === lettersOf(shape) && !("capturing" in shape)));

/** Whether the table is another than the layout says: `followTable` first. */
export const isChanged = (signs: unknown): boolean => typeof signs === "string" && signs.endsWith(CHANGED);

const lettersOf = ({ capture }: TableShape): string =>
  (capture === "always" ? "A" : "O").repeat(CAPTURE_TRIGGERS.length);

/**
 * An expression over `_bridge_state`: why nothing may touch the mapped table, as `CaptureOff` in JSON; NULL where its
 * rows are all seen and its changes are captured, and where the mapping only reads from Salesforce and all columns are there.
 */
export const captureOff = (schema: string, state: string): string => `(
  SELECT CASE
    WHEN c.oid IS NULL THEN jsonb_build_object('why', 'table', 'now', ${namesakeOf(schema, state)})
    WHEN ${lackingOf(state)} IS NOT NULL THEN jsonb_build_object('why', 'columns', 'columns', ${lackingOf(state)})
    WHEN row_security_active(c.oid) THEN '{"why": "rows_hidden"}'::jsonb
    WHEN ${state}.shape ->> 'direction' = 'sf_to_pg' THEN NULL
    WHEN ${state}.shape ? 'replaced' THEN jsonb_build_object('why', 'replaced', 'columns', ${state}.shape -> 'replaced')
    WHEN ${state}.shape ? 'capturing' THEN '{"why": "unfinished"}'::jsonb
    WHEN c.relispartition THEN '{"why": "partition"}'::jsonb
    WHEN ${isSubscribed("c.oid")} THEN '{"why": "subscription"}'::jsonb
    ELSE (
      SELECT CASE
        WHEN count(t.oid) < ${CAPTURE_TRIGGERS.length} THEN jsonb_build_object('why', 'triggers', 'triggers', (
          SELECT jsonb_agg(asked) FROM pg_catalog.unnest(${ASKED}) AS asked WHERE (asked = ANY (array_agg(t.tgname))) IS NOT TRUE))
        WHEN bool_or(NOT pg_has_role(p.proowner, c.relowner, 'USAGE')) THEN jsonb_build_object('why', 'owner',
          'owner', pg_get_userbyid(c.relowner), 'member', pg_get_userbyid(min(p.proowner)))
      END
      FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
      WHERE t.tgrelid = c.oid AND t.tgname = ANY (${ASKED})
        AND t.tgenabled = CASE ${state}.shape ->> 'capture' WHEN 'always' THEN 'A'::"char" ELSE 'O'::"char" END
    )
  END
  FROM (SELECT) one LEFT JOIN pg_class c ON c.relnamespace = ${literal(name(schema))}::regnamespace::oid
    AND c.relname = ${state}.table_name::text AND c.relkind = 'r')`;

/** The table that has the triggers of a mapped one which is gone, and so is the one: it was renamed or moved. */
const namesakeOf = (schema: string, state: string): string => `(
      SELECT min(format('%I.%I', n.nspname, o.relname))
      FROM pg_proc p JOIN pg_trigger t ON t.tgfoid = p.oid JOIN pg_class o ON o.oid = t.tgrelid
        JOIN pg_namespace n ON n.oid = o.relnamespace
      WHERE p.pronamespace = ${literal(name(schema))}::regnamespace::oid AND p.proname = ${functionNameOf("insert", `${state}.table_name`)})`;

/** The columns that the mapped table `c` lacks, of those that a cycle reads or writes. */
const lackingOf = (state: string): string => `(
      SELECT jsonb_agg(wanted.column ORDER BY wanted.column)
      FROM (SELECT pg_catalog.unnest('{${Object.keys(OWN_COLUMNS).join(",")}}'::text[]) UNION SELECT ${state}.layout ->> 'key'
        UNION SELECT mapped ->> 'column' FROM jsonb_array_elements(${state}.shape -> 'columns') AS mapped) AS wanted ("column")
      WHERE NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = wanted.column AND a.attnum > 0))`;

/** The same of one mapping. */
export async function readCaptureOff(session: Session, schema: string, mappingId: string): Promise<CaptureOff | null> {
  const [row] = await session.query<{ off: CaptureOff | null }>(
    `SELECT ${captureOff(schema, "s")} AS off FROM ${metadata(schema).state} s WHERE s.mapping_id = $1`,
    [mappingId],
  );
  return row?.off ?? null;
}
