import type { SealedWorkspace } from "../access/ports.ts";

/** A field as the org describes it, as far as a mapping must know it (reference salesforce.md 2.3). */
export interface OrgField {
  readonly name: string;
  readonly type: string;
  readonly filterable: boolean;
  readonly externalId: boolean;
  readonly idLookup: boolean;
  /** A lookup's way to its parent, `Account`; null: it is none. */
  readonly relationshipName: string | null;
  /** Objects that a lookup points to. */
  readonly referenceTo: readonly string[];
}

/** An object as the org describes it. */
export interface OrgObject {
  readonly name: string;
  readonly queryable: boolean;
  readonly fields: readonly OrgField[];
}

/** The connected org's own words for its objects. Rejects with a `Failure` that says what an operator can do. */
export interface Org {
  /** API names of the objects that the connection's user sees, by their lower-case form. */
  objectNames(workspace: SealedWorkspace): Promise<ReadonlyMap<string, string>>;
  /** Descriptions of objects by API name. */
  describe(workspace: SealedWorkspace, names: readonly string[]): Promise<ReadonlyMap<string, OrgObject>>;
}
