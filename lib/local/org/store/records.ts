import { isStored } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { type Database, quoted, type Row, type Stored } from "./database.ts";
import { recordId } from "./ids.ts";
import { nextNumber } from "./settings.ts";

/** The records of all objects, one table each: plain reading and writing, no rules. */
export class Records {
  readonly #database: Database;
  readonly #inserts = new Map<string, { sql: string; columns: readonly string[] }>();

  constructor(database: Database) {
    this.#database = database;
  }

  newId(object: SObject): string {
    return recordId(object.keyPrefix, nextNumber(this.#database, object.name));
  }

  find(object: SObject, id: string): Row | undefined {
    return this.#database.first(`SELECT * FROM ${quoted(object.name)} WHERE "Id" = ?`, id);
  }

  /** Records that are not deleted and hold this value, at most `limit` of them. */
  findBy(object: SObject, field: string, value: Stored, limit = 2): Row[] {
    const alive = object.field("IsDeleted") ? ' AND "IsDeleted" = 0' : "";
    return this.#database.all(
      `SELECT * FROM ${quoted(object.name)} WHERE ${quoted(field)} = ?${alive} LIMIT ${limit}`,
      value,
    );
  }

  insert(object: SObject, row: Row): void {
    const { sql, columns } = this.#insertOf(object);
    this.#database.run(sql, ...columns.map((column) => row[column] ?? null));
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

  #insertOf(object: SObject) {
    const known = this.#inserts.get(object.name);
    if (known) return known;
    const columns = object.fields.filter(isStored).map((field) => field.name);
    const sql = `INSERT INTO ${quoted(object.name)} (${columns.map(quoted).join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
    const made = { sql, columns };
    this.#inserts.set(object.name, made);
    return made;
  }
}
