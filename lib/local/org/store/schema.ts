import { createHash } from "node:crypto";
import type { Catalog } from "../metadata/catalog.ts";
import { type Field, isNumeric, isStored } from "../metadata/field.ts";
import { traitsOf } from "../metadata/field-type.ts";
import type { SObject } from "../metadata/sobject.ts";
import { type Database, quoted } from "./database.ts";

const OWN_TABLES = `
  CREATE TABLE IF NOT EXISTS _setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _sequence (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _credential (username TEXT PRIMARY KEY COLLATE NOCASE, password TEXT NOT NULL, user_id TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _session (token TEXT PRIMARY KEY, user_id TEXT NOT NULL, expires_at INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _grant (secret TEXT PRIMARY KEY, kind TEXT NOT NULL, user_id TEXT NOT NULL, detail TEXT NOT NULL, expires_at INTEGER) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _api_use (minute INTEGER PRIMARY KEY, calls INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS _deleted (object TEXT NOT NULL, id TEXT NOT NULL, deleted_at TEXT NOT NULL, PRIMARY KEY (object, id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _bin (id TEXT PRIMARY KEY, root TEXT NOT NULL, deleted_at TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _bin_link (root TEXT NOT NULL, id TEXT NOT NULL, field TEXT NOT NULL, target TEXT NOT NULL, PRIMARY KEY (root, id, field)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _cursor (id INTEGER PRIMARY KEY, soql TEXT NOT NULL, include_deleted INTEGER NOT NULL, total INTEGER NOT NULL, opened_at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS _cursor_row (cursor INTEGER NOT NULL, position INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (cursor, position)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _job (id TEXT PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS _job_row (job TEXT NOT NULL, position INTEGER NOT NULL, id TEXT, created INTEGER NOT NULL, error TEXT, line TEXT NOT NULL, PRIMARY KEY (job, position)) WITHOUT ROWID;`;

/** Brings the file's tables up to the metadata; fields that left the metadata keep their columns. */
export function createTables(database: Database, catalog: Catalog, now: Date): void {
  const wanted = createHash("sha256").update(JSON.stringify(catalog.objects)).digest("hex");
  database.transaction(() => {
    database.execute(OWN_TABLES);
    const built = database.first("SELECT value FROM _setting WHERE name = 'schema'")?.["value"];
    if (built === wanted) return;
    for (const object of catalog.objects) createTable(database, object);
    database.run(
      "INSERT OR REPLACE INTO _setting VALUES ('schema', ?), ('metadata_changed_at', ?)",
      wanted,
      now.toISOString(),
    );
  });
}

/** When the metadata last became another; describe answers 304 to those who have asked since. */
export function metadataChangedAt(database: Database): Date {
  return new Date(String(database.first("SELECT value FROM _setting WHERE name = 'metadata_changed_at'")?.["value"]));
}

function createTable(database: Database, object: SObject): void {
  const table = quoted(object.name);
  const stored = object.fields.filter(isStored);
  database.execute(`CREATE TABLE IF NOT EXISTS ${table} (${stored.map(columnOf).join(", ")})`);
  const present = new Set(database.all(`PRAGMA table_info(${table})`).map((column) => column["name"]));
  for (const field of stored.filter((candidate) => !present.has(candidate.name))) {
    database.execute(`ALTER TABLE ${table} ADD COLUMN ${columnOf(field)}`);
  }
  for (const columns of indexesOf(object)) {
    database.execute(
      `CREATE INDEX IF NOT EXISTS ${quoted(`${object.name}.${columns.join(".")}`)} ON ${table} (${columns.map(quoted).join(", ")})`,
    );
  }
}

function columnOf(field: Field): string {
  if (field.type === "id") return `${quoted(field.name)} TEXT PRIMARY KEY NOT NULL`;
  if (field.type === "boolean") return `${quoted(field.name)} INTEGER NOT NULL DEFAULT ${field.defaultValue ? 1 : 0}`;
  if (isNumeric(field)) return `${quoted(field.name)} ${field.type === "int" ? "INTEGER" : "REAL"}`;
  return `${quoted(field.name)} TEXT${ignoresCase(field) ? " COLLATE NOCASE" : ""}`;
}

/** Salesforce compares text without regard to case, except ids and fields that say otherwise. */
export function ignoresCase(field: Field): boolean {
  const { kind } = traitsOf(field.type);
  return (kind === "text" || kind === "compound") && !field.caseSensitive;
}

/** The keyset index, and one for each field by which records are found: keys, and lookups but those to users. */
function indexesOf(object: SObject): string[][] {
  const isKey = (field: Field) => isStored(field) && (field.externalId || field.unique);
  const isLink = (field: Field) =>
    field.type === "reference" && !field.referenceTo.includes("User") && field.name !== "MasterRecordId";
  const single = object.fields.filter((field) => isKey(field) || isLink(field) || isSearched(object, field));
  // With IsDeleted in it, counting and the reading of stamps alone never touch the wide rows.
  const keyset = ["SystemModstamp", "Id", ...(object.field("IsDeleted") ? ["IsDeleted"] : [])];
  return [keyset, ...single.map((field) => [field.name])];
}

/** E-mail addresses and names are what people look records up by. */
function isSearched(object: SObject, field: Field): boolean {
  return (
    isStored(field) && ((field.type === "email" && field.name === "Email") || (field.nameField && object.searchable))
  );
}
