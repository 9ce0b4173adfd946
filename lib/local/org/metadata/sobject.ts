import type { Field } from "./field.ts";

/** A record type as describe lists it; `isMaster` marks the one every object has. */
export interface RecordType {
  readonly id: string;
  readonly name: string;
  readonly developerName: string;
  readonly isMaster: boolean;
  readonly isDefault: boolean;
  readonly active: boolean;
}

/** A formula that refuses a save when it is true, with the administrator's own words. */
export interface ValidationRule {
  readonly name: string;
  readonly condition: string;
  readonly message: string;
  readonly field: string | null;
}

/** A change of further fields on save: a stand-in for triggers and flows. */
export interface Automation {
  readonly name: string;
  readonly on: readonly ("create" | "update")[];
  readonly condition: string | null;
  /** Field name to formula. */
  readonly set: Readonly<Record<string, string>>;
  /** `before` changes the saved record itself; `after` makes a second save of it in the same transaction. */
  readonly when: "before" | "after";
}

/** Records that are alike in these fields are duplicates; those that a rule only alerts of are saved on demand. */
export interface DuplicateRule {
  readonly name: string;
  readonly fields: readonly string[];
  readonly action: "block" | "alert";
}

/** Who gets a new record: the first entry whose condition holds says so. */
export interface AssignmentRule {
  readonly condition: string | null;
  /** A user's name to log in with. */
  readonly owner: string;
}

/** What may be done with the records of an object. */
export interface Abilities {
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly deletable: boolean;
  readonly undeletable: boolean;
  readonly mergeable: boolean;
  readonly replicateable: boolean;
  readonly searchable: boolean;
}

/** One object of the org: its fields, rules and what its records allow. */
export interface SObject extends Abilities {
  readonly name: string;
  readonly label: string;
  readonly labelPlural: string;
  readonly keyPrefix: string;
  readonly custom: boolean;
  readonly fields: readonly Field[];
  readonly recordTypes: readonly RecordType[];
  readonly validationRules: readonly ValidationRule[];
  readonly automations: readonly Automation[];
  readonly duplicateRules: readonly DuplicateRule[];
  readonly assignmentRules: readonly AssignmentRule[];
  /** Field by its name in any case. */
  field(name: string): Field | undefined;
  /** The lookup whose relationship has this name (`Account`, `Parent__r`), in any case. */
  relationship(name: string): Field | undefined;
}

/** What an object's author must say; abilities default to all. */
export interface SObjectSpec extends Partial<Abilities> {
  readonly name: string;
  readonly label?: string;
  readonly labelPlural?: string;
  readonly keyPrefix: string;
  readonly fields: readonly Field[];
  readonly recordTypes?: readonly RecordType[];
  readonly validationRules?: readonly ValidationRule[];
  readonly automations?: readonly Automation[];
  readonly duplicateRules?: readonly DuplicateRule[];
  readonly assignmentRules?: readonly AssignmentRule[];
}

/** An object with lookups by name built in. */
export function makeSObject(spec: SObjectSpec): SObject {
  const byName = new Map(spec.fields.map((field) => [field.name.toLowerCase(), field]));
  const byRelationship = new Map(
    spec.fields.flatMap((field) => (field.relationshipName ? [[field.relationshipName.toLowerCase(), field]] : [])),
  );
  const label = spec.label ?? spec.name.replace(/__c$/, "").replace(/_/g, " ");
  return {
    createable: true,
    updateable: true,
    deletable: true,
    undeletable: true,
    mergeable: false,
    replicateable: true,
    searchable: true,
    recordTypes: [],
    validationRules: [],
    automations: [],
    duplicateRules: [],
    assignmentRules: [],
    ...spec,
    label,
    labelPlural: spec.labelPlural ?? `${label}s`,
    custom: /__c$/.test(spec.name),
    field: (name) => byName.get(name.toLowerCase()),
    relationship: (name) => byRelationship.get(name.toLowerCase()),
  };
}

/** The field that names a record (`Name`, `CaseNumber`, `Subject`), if the object has one. */
export function nameFieldOf(object: SObject): Field | undefined {
  return object.fields.find((field) => field.nameField);
}
