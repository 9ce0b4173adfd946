import { qualified, type Session } from "../adapters/postgres/session/sql.ts";

/** One pair, its key and its value each without their quotes; NULL has no value. */
const PAIR = String.raw`"([^"\\]*(?:\\.[^"\\]*)*)"=>(?:NULL|"([^"\\]*(?:\\.[^"\\]*)*)")`;

/** An SQL expression: the text of an hstore as a JSON object of texts; NULL stays NULL. */
export type ReadHstore = (text: string) => string;

/**
 * How this database reads the text of an hstore, the form in which Heroku Connect keeps changes (reference
 * heroku-connect-facts 2.2): by the extension, or, where that is gone, too old or not ours to use, by an expression seventy
 * times as slow.
 */
export async function readerOfHstore(session: Session): Promise<ReadHstore> {
  // No to_regprocedure() or cast to regprocedure: PostgreSQL may ask it of every schema, and those of its own refuse a role.
  const [found] = await session.query<{ schema: string }>(
    `SELECT n.nspname AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'hstore' AND has_schema_privilege(n.oid, 'USAGE') AND EXISTS (
       SELECT FROM pg_proc p WHERE p.pronamespace = e.extnamespace AND p.proname = 'hstore_to_jsonb'
         AND has_function_privilege(p.oid, 'EXECUTE'))`,
  );
  if (!found) return readByExpression;
  const { schema } = found;
  return (text) => `${qualified(schema, "hstore_to_jsonb")}((${text})::${qualified(schema, "hstore")})`;
}

const readByExpression: ReadHstore = (text) => {
  const plain = (part: string) => String.raw`regexp_replace(${part}, '\\(.)', '\1', 'g')`;
  return `(SELECT CASE WHEN ${text} IS NOT NULL THEN coalesce(jsonb_object_agg(${plain("pair[1]")}, ${plain("pair[2]")}), '{}') END
    FROM regexp_matches(${text}, '${PAIR}', 'g') AS pair)`;
};

/** An SQL condition: whether a text is an hstore's from its beginning to its end, or NULL. */
export const isHstore = (text: string): string => `(coalesce(${text}, '') ~ '^(?:${PAIR}(?:, ${PAIR})*)?$')`;
