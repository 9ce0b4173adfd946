import { createHash } from "node:crypto";
import { LONGEST_NAME_BYTES, literal, name } from "../session/sql.ts";

/** What the functions of a mapped table are for. */
const FUNCTION_KINDS = ["begin", "insert", "update", "delete", "truncate", "rekey", "mark", "serve"] as const;

/** The names of a mapped table's functions. */
export const ownFunctions = (table: string): readonly string[] =>
  FUNCTION_KINDS.map((kind) => functionName(kind, table));

/** `_bridge_insert_contact`, shortened with a digest where it would be too long. */
export function functionName(kind: string, table: string): string {
  const whole = `_bridge_${kind}_${table}`;
  if (Buffer.byteLength(whole) <= LONGEST_NAME_BYTES) return whole;
  const digest = createHash("sha256").update(table).digest("hex").slice(0, 12);
  return `_bridge_${kind}_${digest}`;
}

/** SQL for the same of a table whose name an expression gives. */
export const functionNameOf = (kind: string, table: string): string => {
  const whole = `'_bridge_${kind}_' || ${table}`;
  const digest = `left(encode(sha256(convert_to(${table}, 'UTF8')), 'hex'), 12)`;
  return `CASE WHEN octet_length(${whole}) <= ${LONGEST_NAME_BYTES} THEN ${whole} ELSE '_bridge_${kind}_' || ${digest} END`;
};

/**
 * First statement of each SECURITY DEFINER trigger function that writes the log: a table whose owner's rights the function's
 * owner does not have is none that Bridge has mapped, so nothing is logged, and the write itself succeeds. It compares what
 * Bridge asks of a table that it adopts (`catalog.ts`). A superuser has the rights of every role: if one owns the functions,
 * only `secureFunctions` protects them.
 */
export const UNLESS_OWN_TABLE =
  "IF pg_has_role((SELECT c.relowner FROM pg_class c WHERE c.oid = TG_RELID), 'USAGE') IS NOT TRUE THEN RETURN NULL; END IF;";

/** The beginning of a function's body, with room for its first statement. */
const HEAD_CHARACTERS = UNLESS_OWN_TABLE.length + 100;

/**
 * The statement that closes our functions of a schema to all roles but their owner. PostgreSQL checks EXECUTE when a
 * trigger is created, not when it fires, so applications that write mapped tables need no right on a function; a role
 * with that right could have a table of its own logged as a mapped one. PUBLIC gets EXECUTE by default, other roles by
 * the owner's default privileges. Functions of an older version get the first statement above as well. Changes nothing
 * where nothing is open. Functions that our role may not alter are left alone. With `table` those of one mapped table
 * alone: a schema of 1,000 mappings has thousands.
 */
export function secureFunctions(schema: string, table?: string): string {
  const ofTable = ownFunctions(table ?? "")
    .map(literal)
    .join(", ");
  const named = table === undefined ? "starts_with(p.proname, '_bridge_')" : `p.proname IN (${ofTable})`;
  const own = `p.pronamespace = to_regnamespace(${literal(name(schema))})::oid AND ${named}
      AND pg_has_role(p.proowner, 'USAGE')`;
  const secured = literal(`BEGIN ${UNLESS_OWN_TABLE}`);
  return `
    DO $bridge$ DECLARE one record; BEGIN
      FOR one IN SELECT p.prosrc AS body, pg_get_functiondef(p.oid) AS definition FROM pg_proc p
        WHERE ${own} AND p.prosecdef
          -- Of those that are secured already no body is searched.
          AND CASE WHEN strpos(left(p.prosrc, ${HEAD_CHARACTERS}), ${secured}) > 0 THEN false ELSE p.prosrc ~ 'INSERT INTO' END
      LOOP
        -- The definition quotes the body by a tag that is not in it, as $function$, and our statement has no dollar sign.
        EXECUTE replace(one.definition, one.body, regexp_replace(one.body, '^\\s*BEGIN', ${secured}));
      END LOOP;
      FOR one IN SELECT p.oid::regprocedure AS signature, a.grantee::regrole AS grantee
        FROM pg_proc p CROSS JOIN LATERAL aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
        WHERE ${own} AND a.grantee <> p.proowner
      LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %s CASCADE', one.signature,
          CASE one.grantee::oid WHEN 0::oid THEN 'PUBLIC' ELSE one.grantee::text END);
      END LOOP;
    END $bridge$;`;
}
