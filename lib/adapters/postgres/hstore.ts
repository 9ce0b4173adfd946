/** One pair, its key and its value each without their quotes; NULL has no value. */
const PAIR = String.raw`"([^"\\]*(?:\\.[^"\\]*)*)"=>(?:NULL|"([^"\\]*(?:\\.[^"\\]*)*)")`;

/**
 * An SQL expression: the text of an hstore as a JSON object of texts; NULL stays NULL. Heroku Connect keeps changes in
 * this form (reference heroku-connect.md 2.2), and the extension that reads it may be gone.
 */
export function jsonOfHstore(text: string): string {
  const plain = (part: string) => String.raw`regexp_replace(${part}, '\\(.)', '\1', 'g')`;
  return `(SELECT CASE WHEN ${text} IS NOT NULL THEN coalesce(jsonb_object_agg(${plain("pair[1]")}, ${plain("pair[2]")}), '{}') END
    FROM regexp_matches(${text}, '${PAIR}', 'g') AS pair)`;
}

/** An SQL condition: whether a text is an hstore's from its beginning to its end, or NULL. */
export const isHstore = (text: string): string => `(coalesce(${text}, '') ~ '^(?:${PAIR}(?:, ${PAIR})*)?$')`;
