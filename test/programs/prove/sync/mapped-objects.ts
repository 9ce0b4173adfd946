/** A mapping of the proof. */
export interface Proved {
  readonly object: string;
  readonly table: string;
  readonly hasUpsertField: boolean;
  readonly policy: "salesforce_wins" | "postgres_wins" | "latest_wins";
  /** A trigger of the application's writes a further column of each row that it writes. */
  readonly nests: boolean;
  /** The org rings for its changes, and the proof asks for no polls of it. */
  readonly rings: boolean;
}

const POLICIES = ["salesforce_wins", "postgres_wins", "latest_wins"] as const;

/** A standard object: Salesforce merges no others (SOAP API Developer Guide, merge()). */
export const MERGED_OBJECT = "Case";

/** The one whose rows win, for which a merge is hardest. */
const MERGED_AT = 2;

/** Half of them with an upsert field, of each kind some with every conflict policy; two of three ring. */
export function mappingsToProve(count: number): Proved[] {
  return Array.from({ length: count }, (_, at) => {
    const hasUpsertField = at % 2 === 0;
    const object = at === MERGED_AT ? MERGED_OBJECT : `${hasUpsertField ? "Keyed" : "Plain"}${at + 1}__c`;
    const policy = POLICIES[Math.floor(at / 2) % POLICIES.length] ?? "salesforce_wins";
    return { object, table: object.toLowerCase(), hasUpsertField, policy, nests: at % 2 === 1, rings: at % 3 !== 2 };
  });
}

/** Identifies records, on both sides and for good. */
const TAG = "Tag__c";
/** Written by the application alone, by the colleagues alone, by both, by a trigger of the application's. */
export const VALUES = ["Here__c", "There__c", "Both__c", "Nested__c"] as const;

/** The org's side of them. */
export const definitionOf = (mappings: readonly Proved[]): object => ({
  objects: mappings.map(({ object, hasUpsertField }) => ({
    name: object,
    ...(object !== MERGED_OBJECT && { nameField: { format: "N-{000000}" } }),
    fields: [
      { name: TAG, type: "text", length: 40, ...(hasUpsertField && { externalId: true, unique: true }) },
      ...[...VALUES, "Later__c"].map((name) => ({ name, type: "text", length: 40 })),
    ],
  })),
});

/** The configuration document that maps them; `more` is a field that some of them get later. */
export const documentOf = (mappings: readonly Proved[], more: readonly string[] = []): object => ({
  version: 1,
  mappings: mappings.map(({ object, hasUpsertField, policy, rings }) => ({
    object_name: object,
    config: {
      ...{ access: "read_write", sf_notify_enabled: rings, sf_polling_seconds: 10 },
      fields: Object.fromEntries([TAG, ...VALUES, ...more].map((field) => [field, {}])),
      ...(hasUpsertField && { upsert_field: TAG }),
      bridge: { conflict_policy: policy },
    },
  })),
});
