import { expect, test } from "vitest";
import { qualify } from "../../../../lib/adapters/postgres/session/qualify.ts";

test.each([
  ["SELECT count(*), max(id) FROM log", "SELECT pg_catalog.count(*), pg_catalog.max(id) FROM log"],
  ["shape ->> 'sfObject'", "shape OPERATOR(pg_catalog.->>) 'sfObject'"],
  ["a || b ? 'c'", "a OPERATOR(pg_catalog.||) b OPERATOR(pg_catalog.?) 'c'"],
  ["x !~ '^a' AND y #>> '{}' = z", "x OPERATOR(pg_catalog.!~) '^a' AND y OPERATOR(pg_catalog.#>>) '{}' = z"],
  ["SELECT unnest(ids)", "SELECT pg_catalog.unnest(ids)"],
  ["DO $bridge$ BEGIN PERFORM now(); END $bridge$;", "DO $bridge$ BEGIN PERFORM pg_catalog.now(); END $bridge$;"],
])("what is called is PostgreSQL's own: %s", (statement, sent) => {
  expect(qualify(statement)).toBe(sent);
});

test.each([
  "SELECT 'it''s count(*) || this'",
  `SELECT "count(x)", "a||b"`,
  "-- count(x) || y",
  "AS $bridge$ BEGIN PERFORM now(); END $bridge$",
  "AS $$ SELECT current_setting('xmlbinary')::varchar $$",
  "coalesce(a, greatest(b, least(c, nullif(d, e)))) = extract(epoch FROM f)",
  "FROM unnest($1::text[], $2::numeric(18,2)[]) AS t (a, b)",
  "x::geometry(Point,4326)",
  "pg_catalog.count(*)",
  `"ext".hstore_to_jsonb(x)`,
  "a = b + 1 AND c - d <> e",
  "make_interval",
])("texts, names, bodies of functions, syntax and what binds otherwise stay: %s", (statement) => {
  expect(qualify(statement)).toBe(statement);
});
