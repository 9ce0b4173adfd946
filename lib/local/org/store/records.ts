import { recordId } from "../ids.ts";
import { isStored } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { type Database, quoted, type Row, type Stored } from "./database.ts";
import { nextNumber } from "./settings.ts";

/** An object's stored columns, as names and in the SQL that needs them all. */
interface Columns {
  readonly columns: readonly string[];
  readonly list: string;
  readonly insert: string;
}

/** The records of all objects, one table each: plain reading and writing, no rules. */
export class Records {
  readonly #database: Database;
  readonly #columns = new Map<string, Columns>();

  constructor(database: Database) {
    this.#database = database;
  }

  newId(object: SObject): string {
    return recordId(object.keyPrefix, nextNumber(this.#database, object.name));
  }

  find(object: SObject, id: string): Row | undefined {
    const { columns, list } = this.#columnsOf(object);
    const [values] = this.#database.tuples(`SELECT ${list} FROM ${quoted(object.name)} WHERE "Id" = ?`, [id]);
    return values && rowOf(columns, values);
  }

  /** True if the record exists and is not deleted. */
  isAlive(object: SObject, id: string): boolean {
    const alive = object.field("IsDeleted") ? ' AND "IsDeleted" = 0' : "";
    return this.#database.tuples(`SELECT 1 FROM ${quoted(object.name)} WHERE "Id" = ?${alive}`, [id]).length > 0;
  }

  /** Records that are not deleted and hold this value, at most `limit` of them. */
  findBy(object: SObject, field: string, value: Stored, limit = 2): Row[] {
    const alive = object.field("IsDeleted") ? ' AND "IsDeleted" = 0' : "";
    return this.#database.all(
      `SELECT * FROM ${quoted(object.name)} WHERE ${quoted(field)} = ?${alive} LIMIT ${limit}`,
      value,
    );
  }

  /** The ids of records that are not deleted and hold this value, at most two of them. */
  idsBy(object: SObject, field: string, value: Stored): string[] {
    const alive = object.field("IsDeleted") ? ' AND "IsDeleted" = 0' : "";
    const sql = `SELECT "Id" FROM ${quoted(object.name)} WHERE ${quoted(field)} = ?${alive} LIMIT 2`;
    return this.#database.tuples(sql, [value]).map(([id]) => String(id));
  }

  insert(object: SObject, row: Row): void {
    const { columns, insert } = this.#columnsOf(object);
    this.#database.run(insert, ...columns.map((column) => row[column] ?? null));
  }

  /** Writes these columns only, so that untouched indexes stay untouched. */
  update(object: SObject, id: string, changes: Row): void {
    const columns = Object.keys(changes);
    const assignments = columns.map((column) => `${quoted(column)} = ?`).join(", ");
    this.#database.run(
      `UPDATE ${quoted(object.name)} SET ${assignments} WHERE "Id" = ?`,
      ...Object.values(changes),
      id,
    );
  }

  remove(object: SObject, id: string): void {
    this.#database.run(`DELETE FROM ${quoted(object.name)} WHERE "Id" = ?`, id);
  }

  #columnsOf(object: SObject): Columns {
    const known = this.#columns.get(object.name);
    if (known) return known;
    const columns = object.fields.filter(isStored).map((field) => field.name);
    const list = columns.map(quoted).join(", ");
    const insert = `INSERT INTO ${quoted(object.name)} (${list}) VALUES (${columns.map(() => "?").join(", ")})`;
    const made = { columns, list, insert };
    this.#columns.set(object.name, made);
    return made;
  }
}

/** A row from its values: much quicker for wide tables than having SQLite make the object. */
function rowOf(columns: readonly string[], values: readonly Stored[]): Row {
  const row: Row = {};
  for (const [index, column] of columns.entries()) row[column] = values[index] ?? null;
  return row;
}
