/** Texts, quoted names, comments, and the bodies of functions, which have a search path of their own: they stay. */
const STAYS = String.raw`'[^']*(?:''[^']*)*'|"[^"]*"|--.*|(?<!DO )\$(\w*)\$[^]*?\$\1\$`;
/** A block that runs at once, as a statement. */
const BLOCK = String.raw`DO \$bridge\$([^]*?)\$bridge\$`;
const CALL = String.raw`\b([a-z]\w*)(?=\()`;
/** Operators that bind like any other one, and so also with their schema. */
const OPERATOR = String.raw`(\|\||->>?|#>>|\?\|?|@>|!?~)`;

const PARTS = new RegExp(`${STAYS}|${BLOCK}|${CALL}|${OPERATOR}`, "g");

/** What only looks like a call. `unnest` of several arguments is syntax, too. */
const SYNTAX = new Set(["coalesce", "extract", "greatest", "least", "nullif", "numeric", "varchar", "varying"]);
const SEVERAL = /^unnest\((?:[^(),]|\([^()]*\))*,/;

/**
 * A statement with the functions that it calls, and its operators but those that compare or compute, named in
 * `pg_catalog`. The search path of our role has schemas in which others may create functions and operators, and
 * PostgreSQL takes theirs where the types fit better. The path itself stays: the triggers of the customer's tables need it.
 *
 * `=`, `<` and their like, and `+`, would bind otherwise with their schema. Of them PostgreSQL takes its own where it has
 * one for exactly these two types, so statements cast: `state::text = 'NEW'`.
 */
export function qualify(statement: string): string {
  return statement.replace(PARTS, (part, _, block?: string, call?: string, operator?: string, at = 0) => {
    if (block !== undefined) return `DO $bridge$${qualify(block)}$bridge$`;
    if (call === undefined && operator === undefined) return part;
    if (".$:".includes(statement[at - 1] ?? " ") || SYNTAX.has(part)) return part;
    if (part === "unnest" && SEVERAL.test(statement.slice(at))) return part;
    return call === undefined ? `OPERATOR(pg_catalog.${part})` : `pg_catalog.${part}`;
  });
}
