import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ListProposalsData } from "bridge/api";
import { CommandFailure } from "./failure.ts";

/** What a mapped table needs of the application's own migration, as the API gives it. */
export type Proposal = ListProposalsData[number];

/** drizzle-kit's list of migrations, and its picture of the schema after the last one, as version 0.31 keeps them. */
interface Journal {
  readonly version: string;
  readonly dialect: string;
  readonly entries: readonly { readonly idx: number; readonly when: number; readonly tag: string }[];
}

interface Snapshot {
  readonly id: string;
  readonly tables: Record<string, Table>;
  readonly schemas: Record<string, string>;
}

interface Table {
  readonly columns: Record<string, { readonly type: string }>;
  readonly indexes: Record<string, unknown>;
}

/**
 * Writes proposals as the next migration into the folder that `drizzle-kit generate` writes to: its SQL, its entry in
 * the journal, and the picture of the schema after it, so that drizzle-kit does not generate the same again. Null: the
 * migrations that are there hold all of it already. Every statement may be run where the change exists already.
 */
export function writeDrizzleMigration(folder: string, proposals: readonly Proposal[], now: Date): string | null {
  const meta = join(folder, "meta");
  const journal = readJournal(folder, join(meta, "_journal.json"));
  const last = journal.entries.at(-1);
  const before = readLastSnapshot(meta);
  const after = proposals.reduce(withProposal, before);
  if (JSON.stringify(after) === JSON.stringify(before)) return null;
  const idx = (last?.idx ?? -1) + 1;
  const prefix = String(idx).padStart(4, "0");
  const tag = `${prefix}_bridge`;
  const entry = { idx, version: VERSION, when: Math.max(now.getTime(), (last?.when ?? 0) + 1), tag, breakpoints: true };
  const sql = proposals.flatMap((proposal) => proposal.sql.map(repeatable)).join(";\n--> statement-breakpoint\n");
  writeFileSync(join(folder, `${tag}.sql`), `${sql};\n`);
  writeFileSync(join(meta, `${prefix}_snapshot.json`), toJson({ ...after, id: randomUUID(), prevId: before.id }));
  writeFileSync(join(meta, "_journal.json"), toJson({ ...journal, entries: [...journal.entries, entry] }));
  return join(folder, `${tag}.sql`);
}

const VERSION = "7";

const toJson = (value: unknown) => JSON.stringify(value, null, 2);

/** Drizzle runs migrations in one transaction, in which no index can be built beside the table's writers. */
const repeatable = (statement: string) =>
  statement
    .replace(/^CREATE TABLE /, "CREATE TABLE IF NOT EXISTS ")
    .replaceAll(" ADD COLUMN ", " ADD COLUMN IF NOT EXISTS ")
    .replace(/^CREATE (UNIQUE )?INDEX (?:CONCURRENTLY )?/, "CREATE $1INDEX IF NOT EXISTS ");

function readJournal(folder: string, file: string): Journal {
  if (!existsSync(file)) {
    throw new CommandFailure("usage", `${file} is not there: name the folder that drizzle-kit generate writes to`);
  }
  const journal = JSON.parse(readFileSync(file, "utf8")) as Journal;
  const isKnown = journal.version === VERSION && journal.dialect === "postgresql";
  if (isKnown && journal.entries.every(({ tag }) => /^\d{4}_/.test(tag))) return journal;
  throw new CommandFailure(
    "usage",
    `${folder} is not as drizzle-kit 0.31 keeps migrations of PostgreSQL by number; add what bridge schema propose prints to your schema's code, and run drizzle-kit generate`,
  );
}

function readLastSnapshot(meta: string): Snapshot {
  const last = readdirSync(meta)
    .filter((file) => file.endsWith("_snapshot.json"))
    .toSorted()
    .at(-1);
  if (last !== undefined) return JSON.parse(readFileSync(join(meta, last), "utf8")) as Snapshot;
  throw new CommandFailure("usage", `${meta} holds no snapshot: run drizzle-kit generate once, then this again`);
}

function withProposal(snapshot: Snapshot, proposal: Proposal): Snapshot {
  const { schema, table, create, columns, wider, indexes } = proposal;
  const key = `${schema}.${table}`;
  const known = snapshot.tables[key];
  if (known === undefined && !create) {
    throw new CommandFailure(
      "conflict",
      `the last migration knows no table ${key}; is this another database's folder?`,
    );
  }
  const before: Table = known ?? emptyTable(schema, table);
  const added = Object.fromEntries(
    columns
      .filter(({ column }) => !(column in before.columns))
      .map(({ column, type }) => [
        column,
        { name: column, type: drizzleType(type), primaryKey: false, notNull: false },
      ]),
  );
  const widened = Object.fromEntries(
    wider.flatMap(({ column, type }) => {
      const now = before.columns[column];
      return now === undefined ? [] : [[column, { ...now, type: drizzleType(type) }]];
    }),
  );
  const after = {
    ...before,
    columns: { ...before.columns, ...added, ...widened },
    indexes: { ...before.indexes, ...Object.fromEntries(indexes.map((index) => [index.name, indexEntry(index)])) },
  };
  const schemas = schema === "public" ? snapshot.schemas : { ...snapshot.schemas, [schema]: schema };
  return { ...snapshot, tables: { ...snapshot.tables, [key]: after }, schemas };
}

const emptyTable = (schema: string, table: string) => ({
  name: table,
  schema: schema === "public" ? "" : schema,
  columns: { id: { name: "id", type: "bigserial", primaryKey: true, notNull: true } },
  indexes: {},
  foreignKeys: {},
  compositePrimaryKeys: {},
  uniqueConstraints: {},
  policies: {},
  checkConstraints: {},
  isRLSEnabled: false,
});

const indexEntry = ({ name, column, unique }: Proposal["indexes"][number]) => ({
  name,
  columns: [{ expression: column, isExpression: false, asc: true, nulls: "last" }],
  isUnique: unique,
  concurrently: false,
  method: "btree",
  with: {},
});

/** A type as drizzle-kit writes it. */
const drizzleType = (type: string) => type.replace("timestamptz", "timestamp with time zone").replace(",", ", ");

/** The lines to add to the code of a Drizzle schema, from which drizzle-kit derives the tables. */
export function drizzleCode({ schema, table, create, columns, wider, indexes }: Proposal): string {
  const made = create ? [`id: bigserial("id", { mode: "number" }).primaryKey(),`] : [];
  const on = ({ column }: { readonly column: string }) => `table${propertyOf(column)}`;
  return [
    `// ${schema}.${table}${create ? ", a new table" : ""}: columns`,
    ...made,
    ...[...columns, ...wider].map((column) => `${keyOf(column.column)}: ${columnCode(column)},`),
    ...(indexes.length > 0 ? ["// and in its list of indexes, (table) => [ … ]"] : []),
    ...indexes.map(
      (index) => `${index.unique ? "uniqueIndex" : "index"}(${JSON.stringify(index.name)}).on(${on(index)}),`,
    ),
  ].join("\n");
}

const isWord = (column: string) => /^[A-Za-z_$][\w$]*$/.test(column);
/** A column as the key of an object literal. */
export const keyOf = (column: string) => (isWord(column) ? column : JSON.stringify(column));
const propertyOf = (column: string) => (isWord(column) ? `.${column}` : `[${JSON.stringify(column)}]`);

/** A column in Drizzle's words: `varchar("email", { length: 80 })`. */
export function columnCode({ column, type }: { readonly column: string; readonly type: string }): string {
  const [, word = type, sizes] = /^(\w+)(?:\((.*)\))?$/.exec(type) ?? [];
  const [first, scale] = sizes?.split(",") ?? [];
  const options = OPTIONS[word]?.(first, scale) ?? "";
  return `${word === "timestamptz" ? "timestamp" : word}(${JSON.stringify(column)}${options})`;
}

const OPTIONS: Readonly<Record<string, (first?: string, second?: string) => string>> = {
  varchar: (length) => (length === undefined ? "" : `, { length: ${length} }`),
  numeric: (precision, scale) => (precision === undefined ? "" : `, { precision: ${precision}, scale: ${scale} }`),
  timestamptz: () => ", { withTimezone: true }",
  bigint: () => `, { mode: "number" }`,
};
