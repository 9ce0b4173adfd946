import { type FieldType, traitsOf } from "./field-type.ts";

/** One value of a picklist; an inactive one stays readable but can no longer be saved. */
export interface PicklistValue {
  readonly value: string;
  readonly label: string;
  readonly active: boolean;
  readonly isDefault: boolean;
}

/** A roll-up summary: what it computes over the records of a master-detail child. */
export interface Rollup {
  readonly child: string;
  readonly reference: string;
  readonly operation: "count" | "sum" | "min" | "max";
  readonly field: string | null;
}

/** Everything the org knows about one field; describe, SOQL and saving all read it from here. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly type: FieldType;
  /** Characters for text, 0 for other types. */
  readonly length: number;
  readonly precision: number;
  readonly scale: number;
  readonly custom: boolean;
  readonly nillable: boolean;
  readonly createable: boolean;
  readonly updateable: boolean;
  readonly unique: boolean;
  readonly externalId: boolean;
  readonly idLookup: boolean;
  readonly caseSensitive: boolean;
  readonly nameField: boolean;
  readonly filterable: boolean;
  readonly sortable: boolean;
  readonly groupable: boolean;
  readonly restrictedPicklist: boolean;
  readonly picklist: readonly PicklistValue[];
  readonly referenceTo: readonly string[];
  readonly relationshipName: string | null;
  readonly childRelationshipName: string | null;
  /** True for master-detail: children go into the recycle bin with their parent. */
  readonly cascadeDelete: boolean;
  /** A lookup that forbids deleting its parent while records point to it. */
  readonly restrictedDelete: boolean;
  readonly formula: string | null;
  readonly rollup: Rollup | null;
  readonly autoNumberFormat: string | null;
  readonly defaultValue: string | number | boolean | null;
  readonly defaultedOnCreate: boolean;
  readonly compoundFieldName: string | null;
  /** The fields an address is assembled from; empty for all other types. */
  readonly parts: readonly string[];
  readonly extraTypeInfo: string | null;
}

/** What a field's author may say; all else follows from the type. */
export type FieldOptions = Partial<Omit<Field, "name" | "type" | "custom">>;

/** A field with the properties that Salesforce gives to its type, unless the options say otherwise. */
export function makeField(name: string, type: FieldType, options: FieldOptions = {}): Field {
  const custom = /__c$/i.test(name);
  const { precision, scale, isGroupable, ...traits } = traitsOf(type);
  const computed = Boolean(options.formula ?? options.rollup ?? options.autoNumberFormat) || type === "address";
  const length = options.length ?? traits.length;
  const isLong = (type === "textarea" && length > 255) || type === "base64";
  const isPlain = !isLong && type !== "address" && type !== "encryptedstring";
  const isBoolean = type === "boolean";
  return {
    name,
    label: labelOf(name, type),
    type,
    length,
    precision,
    scale,
    custom,
    nillable: !isBoolean,
    createable: !computed,
    updateable: !computed,
    unique: false,
    externalId: false,
    idLookup: type === "id" || Boolean(options.externalId ?? options.unique) || type === "email",
    caseSensitive: false,
    nameField: false,
    filterable: isPlain,
    sortable: isPlain && type !== "multipicklist",
    groupable: isPlain && isGroupable,
    restrictedPicklist: false,
    picklist: [],
    referenceTo: [],
    relationshipName: null,
    childRelationshipName: null,
    cascadeDelete: false,
    restrictedDelete: false,
    formula: null,
    rollup: null,
    autoNumberFormat: null,
    defaultValue: isBoolean ? false : null,
    defaultedOnCreate: isBoolean || options.defaultValue !== undefined || Boolean(options.autoNumberFormat),
    compoundFieldName: null,
    parts: [],
    extraTypeInfo: type === "textarea" ? "plaintextarea" : null,
    ...options,
  };
}

/** `AnnualRevenue` reads "Annual Revenue", `ParentId` "Parent ID", `Ext_Code__c` "Ext Code". */
function labelOf(name: string, type: FieldType): string {
  const bare = name.replace(/__c$/i, "").replace(/_/g, " ");
  const words = bare.replace(/([a-z0-9])([A-Z])/g, "$1 $2");
  return type === "reference" || type === "id" ? words.replace(/\bId$/, "ID") : words;
}

/** True if the field has a column of its own; formulas and addresses are computed when read. */
export function isStored(field: Field): boolean {
  return field.formula === null && field.type !== "address";
}

/** True for the types whose values are JSON numbers. */
export function isNumeric(field: Field): boolean {
  return traitsOf(field.type).kind === "number";
}

/** The values of a picklist from plain strings; the one marked with `*` is the default. */
export function picklistValues(...values: readonly string[]): PicklistValue[] {
  return values.map((text) => {
    const value = text.replace(/^\*/, "");
    return { value, label: value, active: true, isDefault: text.startsWith("*") };
  });
}
