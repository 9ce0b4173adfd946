import type { Field } from "./field.ts";
import type { SObject } from "./sobject.ts";

/** A lookup seen from its parent. */
export interface ChildRelationship {
  readonly child: SObject;
  readonly field: Field;
  /** Null where the children cannot be queried from the parent. */
  readonly name: string | null;
}

/** All objects of the org, found by name in any case or by key prefix. */
export class Catalog {
  readonly objects: readonly SObject[];
  readonly #byName: ReadonlyMap<string, SObject>;
  readonly #byPrefix: ReadonlyMap<string, SObject>;
  readonly #children = new Map<string, ChildRelationship[]>();

  constructor(objects: readonly SObject[]) {
    this.objects = objects.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#byName = new Map(objects.map((object) => [object.name.toLowerCase(), object]));
    this.#byPrefix = new Map(objects.map((object) => [object.keyPrefix, object]));
    for (const child of this.objects) for (const field of child.fields) this.#noteReference(child, field);
  }

  #noteReference(child: SObject, field: Field): void {
    for (const parent of field.referenceTo) {
      const known = this.#children.get(parent) ?? [];
      known.push({ child, field, name: field.childRelationshipName });
      this.#children.set(parent, known);
    }
  }

  find(name: string): SObject | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** The object with this name, which the org itself relies on. */
  get(name: string): SObject {
    const object = this.find(name);
    if (!object) throw new Error(`the org's own metadata names an object that it does not have: ${name}`);
    return object;
  }

  /** The object whose records have this id, judged by its first three characters. */
  ofId(id: string): SObject | undefined {
    return this.#byPrefix.get(id.slice(0, 3));
  }

  /** All lookups that point to the object, named or not. */
  childRelationships(parent: SObject): readonly ChildRelationship[] {
    return this.#children.get(parent.name) ?? [];
  }

  childRelationship(parent: SObject, name: string): ChildRelationship | undefined {
    const wanted = name.toLowerCase();
    return this.childRelationships(parent).find((relationship) => relationship.name?.toLowerCase() === wanted);
  }
}
