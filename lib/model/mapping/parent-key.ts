/**
 * A parent named by an external id of its own, as a field of the child: `Account.External_Id__c`. It lets a row name a
 * parent that has no sfid yet (Heroku Connect, Handling Object Relationships).
 */
export interface ParentKey {
  /** The child's lookup, `AccountId`. */
  readonly reference: string;
  /** What Salesforce calls the lookup's way to the parent: `Account`, `Project__r`. */
  readonly relationship: string;
  /** The parent's API name. */
  readonly object: string;
  /** The parent's external id, `External_Id__c`. */
  readonly field: string;
}

/** A field that may be a lookup, by its describe. */
export interface Lookup {
  readonly name: string;
  readonly relationshipName: string | null;
  readonly referenceTo: readonly string[];
}

/** The lookup that a name goes through, and what follows it. */
export interface ParentPath<Field extends Lookup> {
  readonly lookup: Field;
  readonly relationship: string;
  readonly field: string;
}

/**
 * Reads `Account.External_Id__c`, or `Account__External_Id__c` as Heroku Connect writes it, in any case; a standard
 * relationship may carry `__r` like a custom one. Null: the name goes through no lookup of the object.
 */
export function parentPathOf<Field extends Lookup>(name: string, fields: readonly Field[]): ParentPath<Field> | null {
  const [relation, rest] = name.split(".");
  const paths = fields.flatMap((lookup) => {
    const relationship = lookup.relationshipName;
    if (relationship === null) return [];
    const field = spellingsOf(relationship).map((spelling) =>
      rest === undefined ? after(`${spelling}__`, name) : isSame(spelling, relation ?? "") ? rest : null,
    );
    return field.filter((found) => found !== null).map((found) => ({ lookup, relationship, field: found }));
  });
  // `Parent__r__Key__c` is the key of `Parent__r`, even if there is a `Parent`, too.
  return paths.toSorted((one, other) => one.field.length - other.field.length)[0] ?? null;
}

/** The child's field under one name, whose lower-case form is the column: `Account__External_Id__c`. */
export const parentFieldName = ({ relationship, field }: Pick<ParentKey, "relationship" | "field">): string =>
  `${relationship}__${field}`;

/** The object that a lookup refers to; null: to none, or to several, among which no key decides. */
export function parentOf({ referenceTo }: Pick<Lookup, "referenceTo">): string | null {
  const [target, ...others] = referenceTo;
  return target === undefined || others.length > 0 ? null : target;
}

const spellingsOf = (relationship: string) =>
  relationship.endsWith("__r") ? [relationship] : [`${relationship}__r`, relationship];

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

function after(prefix: string, name: string): string | null {
  return isSame(name.slice(0, prefix.length), prefix) && name.length > prefix.length ? name.slice(prefix.length) : null;
}
