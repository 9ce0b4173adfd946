import type { Session } from "./session.ts";
import { qualified } from "./sql.ts";

/** One pair, its key and its value each without their quotes; NULL has no value. */
const PAIR = String.raw`"([^"\\]*(?:\\.[^"\\]*)*)"=>(?:NULL|"([^"\\]*(?:\\.[^"\\]*)*)")`;

/** An SQL expression: the text of an hstore as a JSON object of texts; NULL stays NULL. */
export type ReadHstore = (text: string) => string;

/**
 * How this database reads the text of an hstore, the form in which Heroku Connect keeps changes (reference
 * heroku-connect.md 2.2): by the extension, or, where that is gone, by an expression seventy times as slow.
 */
export async function readerOfHstore(session: Session): Promise<ReadHstore> {
  const [found] = await session.query<{ schema: string }>(
    `SELECT n.nspname AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'hstore' AND to_regprocedure(format('%I.hstore_to_jsonb(%I.hstore)', n.nspname, n.nspname)) IS NOT NULL`,
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
