import { pathsOf } from "../formula/parse-formula.ts";
import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import { makeField } from "../metadata/field.ts";
import { nameFieldOf, type SObject } from "../metadata/sobject.ts";
import { formulaOf } from "../saving/check.ts";
import { quoted } from "../store/database.ts";
import { formulaFunction } from "./formulas.ts";
import { noSuchColumn } from "./soql-errors.ts";

/** A field as a query reads it: its metadata and the SQL that gives its value. */
export interface Column {
  readonly field: Field;
  readonly sql: string;
}

/** Hands out table aliases; shared by a query and its semi-joins, so that no two are the same. */
export class Aliases {
  #count = 0;

  next(): string {
    return `t${this.#count++}`;
  }
}

/** The tables of one query: its object, and the parents it reaches, each joined once. */
export class Scope {
  readonly object: SObject;
  readonly alias: string;
  readonly aliases: Aliases;
  readonly #catalog: Catalog;
  readonly #soql: string;
  readonly #ownNames: ReadonlySet<string>;
  readonly #joins = new Map<string, { alias: string; sql: string; object: SObject }>();

  constructor(
    needs: { catalog: Catalog; soql: string; aliases: Aliases },
    object: SObject,
    writtenAlias: string | undefined,
  ) {
    this.object = object;
    this.aliases = needs.aliases;
    this.alias = needs.aliases.next();
    this.#catalog = needs.catalog;
    this.#soql = needs.soql;
    this.#ownNames = new Set([object.name.toLowerCase(), ...(writtenAlias ? [writtenAlias.toLowerCase()] : [])]);
  }

  /** The FROM clause with all joins that the columns so far have asked for. */
  from(): string {
    return [`${quoted(this.object.name)} ${this.alias}`, ...[...this.#joins.values()].map((join) => join.sql)].join(
      " ",
    );
  }

  /** The column at a path such as `Account.Owner.Name`; the query's own alias or object name may lead it. */
  column(path: readonly string[]): Column {
    const [first = "", ...rest] = path;
    const isOwn = rest.length > 0 && this.#ownNames.has(first.toLowerCase()) && !this.object.relationship(first);
    return this.#columnOf(this.object, this.alias, isOwn ? rest : path, path.join("."));
  }

  /** The object and alias of a parent, joined now if it is not yet. */
  parent(object: SObject, alias: string, relationship: string): { object: SObject; alias: string; reference: Field } {
    const reference = object.relationship(relationship);
    const [target] = reference?.referenceTo ?? [];
    if (!reference || target === undefined) throw this.#noRelationship(object, relationship);
    const { object: parent, alias: joined } = this.join(alias, reference, this.#catalog.get(target));
    return { object: parent, alias: joined, reference };
  }

  /** A parent of a certain object type behind a lookup that may point to several. */
  join(alias: string, reference: Field, parent: SObject): { object: SObject; alias: string } {
    const key = `${alias}.${reference.name}.${parent.name}`;
    const known = this.#joins.get(key);
    if (known) return known;
    const joined = this.aliases.next();
    const sql = `LEFT JOIN ${quoted(parent.name)} ${joined} ON ${joined}."Id" = ${alias}.${quoted(reference.name)}`;
    const made = { alias: joined, sql, object: parent };
    this.#joins.set(key, made);
    return made;
  }

  #noRelationship(object: SObject, relationship: string): Error {
    return noSuchRelationship(this.#soql, relationship, object);
  }

  #columnOf(object: SObject, alias: string, path: readonly string[], written: string): Column {
    const [name = "", ...rest] = path;
    if (rest.length === 0) return this.#fieldOf(object, alias, name, written);
    const reference = object.relationship(name);
    if (!reference) throw this.#noRelationship(object, name);
    if (reference.referenceTo.length > 1) return this.#polymorphic(alias, reference, rest, written);
    const { object: parent, alias: joined } = this.parent(object, alias, name);
    return this.#columnOf(parent, joined, rest, written);
  }

  #fieldOf(object: SObject, alias: string, name: string, written: string): Column {
    const field = object.field(name);
    if (!field) throw noSuchColumn(this.#soql, written, name, object.name);
    if (field.type === "address") return { field, sql: addressSql(field, alias) };
    if (field.formula === null) return { field, sql: `${alias}.${quoted(field.name)}` };
    const args = pathsOf(formulaOf(field.formula)).map(
      (path) => this.#columnOf(object, alias, path, path.join(".")).sql,
    );
    return { field, sql: `${formulaFunction(object, field)}(${args.join(", ")})` };
  }

  /** Of a parent whose type differs by record only what all have in common can be read: Id, Name, Type and the like. */
  #polymorphic(alias: string, reference: Field, [name = ""]: readonly string[], written: string): Column {
    const id = `${alias}.${quoted(reference.name)}`;
    const targets = reference.referenceTo.map((target) => this.#catalog.get(target));
    const byPrefix = (value: (target: SObject) => string | null): string => {
      const cases = targets.flatMap((target) => {
        const sql = value(target);
        return sql === null ? [] : [`WHEN '${target.keyPrefix}' THEN ${sql}`];
      });
      return cases.length === 0 ? "NULL" : `(CASE substr(${id}, 1, 3) ${cases.join(" ")} END)`;
    };
    if (name.toLowerCase() === "type")
      return { field: makeField("Type", "picklist"), sql: byPrefix((target) => `'${target.name}'`) };
    if (name.toLowerCase() === "id") return { field: makeField("Id", "id"), sql: id };
    const fieldIn = (target: SObject) => (name.toLowerCase() === "name" ? nameFieldOf(target) : target.field(name));
    const example = targets.map(fieldIn).find((field) => field !== undefined);
    if (!example) throw noSuchColumn(this.#soql, written, name, "Name");
    const sql = byPrefix((target) => {
      const field = fieldIn(target);
      return field ? `(SELECT ${quoted(field.name)} FROM ${quoted(target.name)} WHERE "Id" = ${id})` : null;
    });
    return { field: name.toLowerCase() === "name" ? { ...example, name: "Name" } : example, sql };
  }
}

/** A relationship that the query walks and the object does not have. */
export function noSuchRelationship(soql: string, relationship: string, object: SObject) {
  const advice =
    "If you are attempting to use a custom relationship, be sure to append the '__r' after the custom relationship name. Please reference your WSDL or the describe call for the appropriate names.";
  const message = `Didn't understand relationship '${relationship}' in field path. ${advice}`;
  return noSuchColumnLike(soql, relationship, message, object);
}

function noSuchColumnLike(soql: string, word: string, message: string, object: SObject) {
  const refusal = noSuchColumn(soql, word, word, object.name);
  refusal.message = refusal.message.replace(/No such column[\s\S]*$/, message);
  return refusal;
}

const ADDRESS_KEYS = ["street", "city", "state", "postalCode", "country", "latitude", "longitude", "geocodeAccuracy"];

/** An address as JSON text, null when all its parts are empty. */
function addressSql(field: Field, alias: string): string {
  const parts = field.parts.map((part) => `${alias}.${quoted(part)}`);
  const pairs = parts.map((part, index) => `'${ADDRESS_KEYS[index] ?? "other"}', ${part}`);
  return `(CASE WHEN coalesce(${parts.join(", ")}) IS NULL THEN NULL ELSE json_object(${pairs.join(", ")}) END)`;
}
