import type { Ask, Layout } from "../session/sql.ts";

/** A table as the catalog describes it. */
export interface CatalogTable {
  /** `r` table, `p` partitioned, `v` view, `m` materialized view, `f` foreign. */
  readonly kind: string;
  readonly isPartition: boolean;
  /** Whether our role may alter it. */
  readonly isOwned: boolean;
  readonly owner: string;
  readonly rows: number;
  /** Whether a logical subscription feeds it. */
  readonly isSubscribed: boolean;
  /** Row-level security hides rows of it from our user. */
  readonly isHidden: boolean;
  /** Whether COPY may write it: COPY knows no row security, and leaves rules out. */
  readonly takesCopies: boolean;
  readonly columns: readonly CatalogColumn[];
  /** `tableDigest`. */
  readonly digest: string;
  /** Columns of the primary key, in order. */
  readonly primaryKey: readonly string[];
  /** Columns with a valid unique index of exactly that column and no condition. */
  readonly unique: readonly string[];
  readonly indexed: readonly string[];
}

export interface CatalogColumn {
  readonly column: string;
  /** The table's oid and the number that the column keeps for good, whatever its name: `16423.3`. */
  readonly attribute: string;
  /** Without length: `character varying`, `numeric`. */
  readonly type: string;
  /** With length: `character varying(80)`, `numeric(18,2)`. */
  readonly exactType: string;
  readonly generated: boolean;
  /** Generated when it is read. */
  readonly isVirtual: boolean;
  readonly typeOid: number;
  /** `Layout.equality`; null: PostgreSQL's own. */
  readonly equality: string | null;
}

/** Reads a table from the catalog; null when there is none of that name. */
export async function readTable(
  session: { readonly query: Ask },
  schema: string,
  table: string,
): Promise<CatalogTable | null> {
  const [row] = await session.query(READ_TABLE, [schema, table]);
  return (row?.["found"] as CatalogTable | undefined) ?? null;
}

/** SQL of one text for all that a `Layout` says of the table that `c` names in `pg_class`, but the key. */
export const tableDigest = (c: string): string => `(
      SELECT md5(concat(${c}.relrowsecurity, ${c}.relhasrules,
        string_agg(concat_ws(' ', a.attname, a.attnum, a.atttypid, a.atttypmod, a.attgenerated), ', ' ORDER BY a.attname)))
      FROM pg_attribute a WHERE a.attrelid = ${c}.oid AND a.attnum > 0 AND NOT a.attisdropped)`;

/** Types with smaller ones are PostgreSQL's own. */
const FIRST_FOREIGN_OID = 16_384;

/** What a cycle has to know of a table. `renamed`: columns under mapped names that they no longer have. */
export function layoutOf(
  { columns, takesCopies, digest }: CatalogTable,
  key: string,
  captureVersion: number,
  renamed: readonly CatalogColumn[] = [],
): Layout {
  return {
    key,
    types: Object.fromEntries(columns.map(({ column, type }) => [column, type])),
    exactTypes: Object.fromEntries(columns.map(({ column, exactType }) => [column, exactType])),
    attributes: Object.fromEntries([...renamed, ...columns].map(({ column, attribute }) => [column, attribute])),
    generated: columns.filter(({ generated }) => generated).map(({ column }) => column),
    foreign: columns.filter(({ typeOid }) => typeOid >= FIRST_FOREIGN_OID).map(({ column }) => column),
    equality: Object.fromEntries(columns.flatMap(({ column, equality }) => (equality ? [[column, equality]] : []))),
    takesCopies,
    // Of no table: each cycle looks whether the columns are back.
    digest: renamed.length > 0 ? "" : digest,
    captureVersion,
  };
}

/** The name of a column's type; of one that is not PostgreSQL's own with its schema. */
const typeName = (modifier: string): string => `CASE WHEN a.atttypid < ${FIRST_FOREIGN_OID}::oid
        THEN format_type(a.atttypid, ${modifier}) ELSE (SELECT format('%I.%I%s', n.nspname, t.typname,
          substring(format_type(a.atttypid, ${modifier}), '\\(.*\\)$')) FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
          WHERE t.oid = a.atttypid) END`;

/** The operator of the default B-tree class of a type that is not PostgreSQL's own, or of what is under a domain. */
const EQUALITY = `CASE WHEN a.atttypid >= ${FIRST_FOREIGN_OID}::oid THEN (
        WITH RECURSIVE base AS (SELECT a.atttypid AS type
          UNION ALL SELECT d.typbasetype FROM base JOIN pg_type d ON d.oid = base.type AND d.typtype = 'd')
        SELECT format('%I.%s', n.nspname, o.oprname) FROM base JOIN pg_opclass k ON k.opcintype = base.type AND k.opcdefault
          JOIN pg_am m ON m.oid = k.opcmethod AND m.amname = 'btree'
          JOIN pg_amop s ON s.amopfamily = k.opcfamily AND s.amoplefttype = base.type AND s.amoprighttype = base.type AND s.amopstrategy = 3
          JOIN pg_operator o ON o.oid = s.amopopr JOIN pg_namespace n ON n.oid = o.oprnamespace
        WHERE n.nspname <> 'pg_catalog' LIMIT 1) END`;

const READ_TABLE = `
  SELECT jsonb_build_object(
    'kind', c.relkind,
    'isPartition', c.relispartition,
    'isOwned', pg_has_role(current_user, c.relowner, 'USAGE'),
    'isHidden', row_security_active(c.oid),
    'owner', pg_get_userbyid(c.relowner),
    'rows', greatest(c.reltuples, 0),
    'isSubscribed', EXISTS (SELECT FROM pg_subscription_rel f WHERE f.srrelid = c.oid),
    'takesCopies', NOT c.relrowsecurity AND NOT c.relhasrules,
    'digest', ${tableDigest("c")},
    'columns', coalesce((
      SELECT jsonb_agg(jsonb_build_object('column', a.attname,
        'attribute', concat(c.oid, '.', a.attnum), 'type', ${typeName("-1")},
        'exactType', ${typeName("a.atttypmod")}, 'equality', ${EQUALITY}, 'generated', a.attgenerated <> '',
        'isVirtual', a.attgenerated = 'v', 'typeOid', a.atttypid::int8) ORDER BY a.attnum)
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '[]'),
    'primaryKey', coalesce((
      SELECT jsonb_agg(a.attname ORDER BY k.n)
      FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (attnum, n)
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
      WHERE i.indrelid = c.oid AND i.indisprimary), '[]'),
    'unique', coalesce((
      SELECT jsonb_agg(a.attname)
      FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indnkeyatts = 1
        AND i.indpred IS NULL AND i.indexprs IS NULL), '[]'),
    'indexed', coalesce((
      SELECT jsonb_agg(a.attname)
      FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL), '[]')
  ) AS found
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relname = $2`;
