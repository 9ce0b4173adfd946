import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { Client } from "pg";

/** What a role that may only create in `public` has put there to be called by our sessions. */
export type Shadows = Awaited<ReturnType<typeof plantShadows>>;

const STATEMENTS = "lib/adapters/postgres";

/** The names that our statements call like functions, in any of our source. */
function namesCalled(): readonly string[] {
  const files = readdirSync(STATEMENTS, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const calls = files.flatMap((file) => readFileSync(`${STATEMENTS}/${file}`, "utf8").match(/\b[a-z]\w*(?=\()/g) ?? []);
  return [...new Set(calls)];
}

/** The operators that our statements use: all that PostgreSQL has under these names. */
const OPERATORS = "= <> < > <= >= || + - * / % -> ->> #>> #> @> ? ?| ~ !~ ~~ !~~".split(" ");

/** The types of what our statements compare and pass on: each with itself and with text, and those that PostgreSQL mixes. */
const TYPES = [
  ...["bool", '"char"', "name", "int2", "int4", "int8", "float8", "numeric", "text", "varchar", "oid", "regclass"],
  ...["regtype", "regrole", "regnamespace", "timestamptz", "interval", "jsonb", "json", "xid", "uuid", "citext"],
  ...["text[]", "varchar[]", "name[]", "int8[]", "int4[]", "int2[]"],
];
const MIXED = [
  ...["oid regclass", "regclass oid", "oid regtype", "regtype oid", "oid regnamespace", "oid regrole", "name varchar"],
  ...["varchar name", "int8 numeric", "numeric int4", "float8 int4", "int4 interval", "jsonb text[]", "text int8"],
  ...["text int4", "text oid", "text regclass", "text[] varchar[]", "citext varchar", '"char" varchar'],
];

/**
 * Makes an operator for each two types that PostgreSQL has none for, functions with our statements' names for arguments that
 * it has none for, and types with its types' names. Each counts its calls in a sequence, which no ROLLBACK undoes, and fails.
 */
export async function plantShadows(superuserUrl: string) {
  const client = new Client({ connectionString: superuserUrl });
  await client.connect();
  const role = `shadows_${randomUUID().slice(0, 8)}`;
  await client.query(`CREATE ROLE ${role}; GRANT CREATE, USAGE ON SCHEMA public TO ${role}; SET ROLE ${role}; SET search_path = pg_catalog;
    CREATE SEQUENCE public.shadow_calls; GRANT USAGE ON SEQUENCE public.shadow_calls TO PUBLIC`);
  const array = (texts: readonly string[]) => `ARRAY[${texts.map((text) => client.escapeLiteral(text)).join(", ")}]`;
  await client.query(`DO $do$
    DECLARE
      body CONSTANT text := $body$ LANGUAGE plpgsql AS $f$ BEGIN
        PERFORM pg_catalog.nextval('public.shadow_calls'::pg_catalog.regclass);
        RAISE EXCEPTION 'a shadow was called: %%', %L;
      END $f$ $body$;
      types text[] := ARRAY(SELECT t FROM unnest(${array(TYPES)}) t WHERE to_regtype(t) IS NOT NULL);
      pairs text[] := ARRAY(SELECT unnest(ARRAY[t || ' ' || t, t || ' text', 'text ' || t]) FROM unnest(types) t) || ${array(MIXED)};
      l text; r text; o text; result text; made int := 0;
    BEGIN
      FOREACH o IN ARRAY ${array(OPERATORS)} LOOP
        FOR l, r IN SELECT DISTINCT split_part(p, ' ', 1), split_part(p, ' ', 2) FROM unnest(pairs) p LOOP
          CONTINUE WHEN to_regtype(l) IS NULL OR to_regtype(r) IS NULL OR EXISTS (SELECT FROM pg_operator WHERE oprname = o AND oprleft = l::regtype AND oprright = r::regtype
            AND oprnamespace = 'pg_catalog'::regnamespace);
          result := CASE o WHEN '||' THEN 'text' WHEN '->' THEN 'jsonb' WHEN '->>' THEN 'text' WHEN '#>>' THEN 'text'
            WHEN '#>' THEN 'jsonb' WHEN '+' THEN l WHEN '-' THEN l WHEN '*' THEN l WHEN '/' THEN l WHEN '%' THEN l ELSE 'bool' END;
          made := made + 1;
          EXECUTE format('CREATE FUNCTION public.%I (%s, %s) RETURNS %s' || body, 'shadow_' || made, l, r, result, l || ' ' || o || ' ' || r);
          EXECUTE format('CREATE OPERATOR public.%s (FUNCTION = public.%I, LEFTARG = %s, RIGHTARG = %s)', o, 'shadow_' || made, l, r);
        END LOOP;
      END LOOP;
      FOR o IN SELECT DISTINCT proname FROM pg_proc WHERE proname = ANY (${array(namesCalled())}) AND pronamespace = 'pg_catalog'::regnamespace LOOP
        FOREACH l IN ARRAY ARRAY['text', 'varchar', 'name', 'int8', 'jsonb', 'text[]'] LOOP
          FOREACH r IN ARRAY ARRAY['', 'VARIADIC text[]', 'text', 'varchar', 'int4'] LOOP
          made := made + 1;
          EXECUTE format('CREATE FUNCTION public.%I (%s%s) RETURNS text' || body, o, l, coalesce(', ' || nullif(r, ''), ''), o || ' ' || l || ' ' || r);
        END LOOP; END LOOP;
      END LOOP;
      FOREACH o IN ARRAY ARRAY['text', 'name', 'int4', 'int8', 'jsonb', 'json', 'timestamptz', 'regclass', 'regtype', 'varchar', 'bool'] LOOP
        made := made + 1;
        EXECUTE format('CREATE DOMAIN public.%I AS pg_catalog.int4 CHECK (pg_catalog.nextval(''public.shadow_calls'') < 0)', o);
      END LOOP;
      PERFORM pg_catalog.set_config('shadows.made', made::pg_catalog.text, false);
    END $do$`);
  await client.query("RESET ROLE");
  const one = async (text: string) =>
    Object.values((await client.query<Record<string, unknown>>(text)).rows[0] ?? {})[0];
  return {
    made: Number(await one("SELECT current_setting('shadows.made')")),
    /** How often one was called. */
    called: async () =>
      Number(await one("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.shadow_calls")),
    /** Takes them away, and the role. */
    remove: async () => {
      await client.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
      await client.end();
    },
  };
}
