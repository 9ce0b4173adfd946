import type { Clock } from "../clock.ts";
import { Catalog } from "../metadata/catalog.ts";
import { makeSObject } from "../metadata/sobject.ts";
import { Queries } from "../soql/query.ts";
import type { Database } from "../store/database.ts";

/** What one user may do with one field; users without an entry may do everything. */
export interface FieldRight {
  readonly object: string;
  readonly field: string;
  readonly read: boolean;
  readonly edit: boolean;
}

interface Restricted {
  readonly catalog: Catalog;
  readonly queries: Queries;
}

/** The parts of the org that depend on the user, and how they are built. */
interface Needs extends Restricted {
  readonly database: Database;
  readonly clock: Clock;
}

/** Field-level security: a field that a user may not read is hidden; one that may not be edited is read only. */
export class FieldAccess {
  readonly #rights = new Map<string, FieldRight[]>();
  readonly #seen = new Map<string, Restricted>();

  /** Changes one right of a user. */
  set(userId: string, right: FieldRight): void {
    const others = (this.#rights.get(userId) ?? []).filter((known) => nameOf(known) !== nameOf(right));
    this.#rights.set(userId, [...others, right]);
    this.#seen.delete(userId);
  }

  /** The org as a user sees it. */
  partsOf<Parts extends Needs>(parts: Parts, userId: string): Parts {
    const rights = this.#rights.get(userId);
    if (rights === undefined) return parts;
    const seen = this.#seen.get(userId) ?? restricted(parts, rights);
    this.#seen.set(userId, seen);
    return { ...parts, ...seen };
  }
}

const nameOf = ({ object, field }: Pick<FieldRight, "object" | "field">) => `${object}.${field}`.toLowerCase();

function restricted({ catalog: whole, database, clock }: Needs, rights: readonly FieldRight[]): Restricted {
  const byName = new Map(rights.map((right) => [nameOf(right), right]));
  const objects = whole.objects.map((object) => {
    const fields = object.fields.flatMap((field) => {
      const right = byName.get(nameOf({ object: object.name, field: field.name }));
      if (right === undefined) return [field];
      if (!right.read) return [];
      return [right.edit ? field : { ...field, createable: false, updateable: false }];
    });
    return makeSObject({ ...object, fields });
  });
  const catalog = new Catalog(objects);
  return { catalog, queries: new Queries({ database, catalog, clock }) };
}
