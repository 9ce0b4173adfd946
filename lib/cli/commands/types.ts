import type { ListMappingStatesData, ReadObjectData } from "bridge/api";
import { type Context, segment, text } from "../context.ts";
import { columnCode, keyOf } from "../drizzle.ts";
import { CommandFailure } from "../failure.ts";
import { findMapping } from "../find.ts";
import { harmless } from "../width.ts";
import { connectedSchema } from "./schema.ts";

/** A column, its type in PostgreSQL, and the comment beside it. */
interface Column {
  readonly column: string;
  readonly type: string;
  readonly says: string;
}

interface Table {
  readonly schema: string;
  readonly table: string;
  readonly object: string;
  readonly columns: readonly Column[];
}

/** Columns that every mapped table has beside those of its fields, and their fields. */
const OWN: readonly Column[] = [
  { column: "id", type: "bigserial", says: "" },
  { column: "sfid", type: "varchar(18)", says: "the record's id; null until there is one" },
  { column: "systemmodstamp", type: "timestamptz", says: "last change in Salesforce" },
  { column: "isdeleted", type: "boolean", says: "" },
  { column: "_ab_lastop", type: "varchar", says: "the result of the last change" },
  { column: "_ab_err", type: "text", says: "what Salesforce said against it" },
];
const OWN_FIELDS = ["Id", "SystemModstamp", "IsDeleted"];

/** Writes the rows of mapped tables as an application's code knows them; each object costs one describe. */
export async function writeTypes(context: Context): Promise<void> {
  const language = text(context, "for") ?? "";
  const write = WRITERS[language];
  if (write === undefined) throw new CommandFailure("invalid", `--for takes ${Object.keys(WRITERS).join(" or ")}`);
  const api = context.api();
  const [wanted] = context.args;
  const { data: all } = await api.get<ListMappingStatesData>("/monitoring/mappings");
  const chosen = wanted === undefined ? null : await findMapping(api, wanted);
  const mappings = all.filter(({ id }) => chosen === null || id === chosen.id);
  if (mappings.length === 0) {
    throw new CommandFailure("notFound", "there is no mapping yet; make one with: bridge mapping create Contact");
  }
  const schema = await connectedSchema(context);
  const tables: Table[] = [];
  for (const { sf_object: object, pg_table: table, fields } of mappings) {
    const { data } = await api.get<ReadObjectData>(`/objects/${segment(object)}`);
    tables.push({ schema, table, object, columns: columnsOf(fields, data) });
  }
  if (context.out.json) context.out.done("", tables);
  else context.out.text(`// Written by: bridge types --for ${language}\n${write(tables)}`);
}

function columnsOf(fields: readonly string[], described: ReadObjectData): readonly Column[] {
  const known = new Map(described.fields.map((field) => [field.name, field]));
  const mapped = fields
    .filter((field) => !OWN_FIELDS.includes(field))
    .map((field) => {
      const { label = "an external id that names the parent", pg_type } = known.get(field) ?? {};
      return { column: field.toLowerCase(), type: pg_type ?? "text", says: harmless(label) };
    });
  return [...OWN, ...mapped];
}

const WRITERS: Readonly<Record<string, (tables: readonly Table[]) => string>> = {
  ts: (tables) => ["// Values are as node-postgres gives them.\n", ...tables.map(interfaceOf)].join("\n"),
  drizzle: drizzleFile,
};

/** What node-postgres makes of a type; of all others, bigint and numeric among them, the exact text. */
const JS_TYPES: Readonly<Record<string, string>> = {
  boolean: "boolean",
  integer: "number",
  date: "Date",
  timestamptz: "Date",
};

const bareType = (type: string): string => /^\w+/.exec(type)?.[0] ?? "text";
const comment = (words: string): string => `/** ${words.replaceAll("*/", "* /")} */`;
const identifier = (name: string): string => name.replaceAll(/\W/g, "_").replace(/^(?=\d)/, "_");

function interfaceOf({ schema, table, object, columns }: Table): string {
  const lines = columns.map(({ column, type, says }) => {
    const js = JS_TYPES[bareType(type)] ?? "string";
    return `${says === "" ? "" : `  ${comment(says)}\n`}  ${keyOf(column)}: ${column === "id" ? js : `${js} | null`};`;
  });
  return `${comment(harmless(`A row of ${schema}.${table}.`))}\nexport interface ${identifier(object)} {\n${lines.join("\n")}\n}\n`;
}

function drizzleFile(tables: readonly Table[]): string {
  const { schema } = tables[0] ?? { schema: "public" };
  const isPublic = schema === "public";
  const words = tables.flatMap(({ columns }) => columns.map(({ type }) => functionOf(type)));
  const names = [...new Set([isPublic ? "pgTable" : "pgSchema", ...words])].toSorted();
  const on = isPublic ? "pgTable" : `${identifier(schema)}Schema.table`;
  return [
    `import { ${names.join(", ")} } from "drizzle-orm/pg-core";\n`,
    ...(isPublic ? [] : [`export const ${identifier(schema)}Schema = pgSchema(${JSON.stringify(schema)});\n`]),
    ...tables.map(({ table, columns }) => {
      const lines = columns.map((column) => `  ${keyOf(column.column)}: ${codeOf(column)},`);
      return `export const ${identifier(table)} = ${on}(${JSON.stringify(table)}, {\n${lines.join("\n")}\n});\n`;
    }),
  ].join("\n");
}

const functionOf = (type: string): string => (bareType(type) === "timestamptz" ? "timestamp" : bareType(type));

const codeOf = (column: Column): string =>
  column.column === "id" ? `bigserial("id", { mode: "number" }).primaryKey()` : columnCode(column);
