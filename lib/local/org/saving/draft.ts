import { normalizeId } from "../ids.ts";
import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import type { Stored } from "../store/database.ts";
import { fromJson, fromText } from "./convert.ts";

/** A lookup given by another field of its parent: `"Account": {"Ext__c": "A-1"}` instead of `AccountId`. */
export interface Link {
  readonly field: Field;
  readonly parent: SObject;
  readonly key: Field;
  readonly value: Stored;
}

/** What a client asks to have saved, in the org's own terms. A draft that could not be read carries its refusal. */
export interface Draft {
  readonly object: SObject;
  readonly id: string | null;
  readonly values: ReadonlyMap<Field, Stored>;
  readonly links: readonly Link[];
  readonly refusal: Refusal | null;
}

/** Reads the parts of one record as some protocol wrote them. */
export class DraftReader {
  readonly #catalog: Catalog;
  readonly #object: SObject;
  readonly #values = new Map<Field, Stored>();
  readonly #links: Link[] = [];
  #id: string | null = null;
  #refusal: Refusal | null = null;

  constructor(catalog: Catalog, object: SObject) {
    this.#catalog = catalog;
    this.#object = object;
  }

  /** The record's own id; an unreadable one becomes the draft's refusal. */
  id(written: string): void {
    this.#id = normalizeId(written);
    if (this.#id === null) this.refuse(new Refusal("MALFORMED_ID", `bad id ${written}`, { fields: ["Id"] }));
    else if (!this.#id.startsWith(this.#object.keyPrefix)) {
      this.refuse(new Refusal("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id"));
    }
  }

  /** A plain field; throws INVALID_FIELD for a name that the object does not have. */
  json(name: string, value: unknown): void {
    const field = this.#field(name);
    this.#attempt(() => this.#values.set(field, fromJson(field, value)));
  }

  text(name: string, value: string): void {
    const field = this.#field(name);
    this.#attempt(() => this.#values.set(field, convertText(field, value)));
  }

  /** A parent named by one of its key fields, all values as text or JSON. */
  link(relationship: string, key: string, value: unknown): void {
    const field = this.#object.relationship(relationship);
    const parentName = field?.referenceTo.length === 1 ? field.referenceTo[0] : undefined;
    if (!field || parentName === undefined) throw noSuchColumn(relationship, this.#object);
    const parent = this.#catalog.get(parentName);
    const keyField = parent.field(key);
    if (!keyField) throw noSuchColumn(key, parent);
    this.#attempt(() => this.#links.push({ field, parent, key: keyField, value: fromJson(keyField, value) }));
  }

  /** Keeps the first thing that is wrong with this record. */
  refuse(refusal: Refusal): void {
    this.#refusal ??= refusal;
  }

  finish(): Draft {
    return { object: this.#object, id: this.#id, values: this.#values, links: this.#links, refusal: this.#refusal };
  }

  #field(name: string): Field {
    const field = this.#object.field(name);
    if (!field) throw noSuchColumn(name, this.#object);
    return field;
  }

  #attempt(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refuse(error);
    }
  }
}

function convertText(field: Field, text: string): Stored {
  try {
    return fromText(field, text);
  } catch (error) {
    if (!(error instanceof Refusal && error.code === "JSON_PARSER_ERROR")) throw error;
    const message = `${field.name}: value not of required type: ${text}`;
    throw new Refusal("INVALID_TYPE_ON_FIELD_IN_RECORD", message, { fields: [field.name] });
  }
}

/** REST's words for a field that is not there. */
function noSuchColumn(name: string, object: SObject): Refusal {
  return new Refusal("INVALID_FIELD", `No such column '${name}' on sobject of type ${object.name}`, { fields: [name] });
}
