import * as z from "zod";
import { type Field, type FieldOptions, makeField, picklistValues } from "./field.ts";
import { activityDates, lookup, owner, systemFields, text } from "./field-kinds.ts";
import { type Automation, makeSObject, type RecordType, type SObject, type ValidationRule } from "./sobject.ts";

const picklistEntry = z.union([
  z.string(),
  z.object({
    value: z.string(),
    label: z.string().optional(),
    active: z.boolean().default(true),
    default: z.boolean().default(false),
  }),
]);

const fieldDefinition = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/),
  label: z.string().optional(),
  type: z.enum([
    "text",
    "textArea",
    "longTextArea",
    "checkbox",
    "number",
    "currency",
    "percent",
    "date",
    "datetime",
    "time",
    "email",
    "phone",
    "url",
    "picklist",
    "multipicklist",
    "lookup",
    "masterDetail",
    "autoNumber",
    "formula",
    "rollup",
    "base64",
    "encrypted",
  ]),
  length: z.int().positive().optional(),
  precision: z.int().positive().max(18).optional(),
  scale: z.int().nonnegative().max(17).optional(),
  required: z.boolean().optional(),
  unique: z.boolean().optional(),
  caseSensitive: z.boolean().optional(),
  externalId: z.boolean().optional(),
  values: z.array(picklistEntry).optional(),
  restricted: z.boolean().optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
  to: z.union([z.string(), z.array(z.string())]).optional(),
  children: z.string().optional(),
  restrictDelete: z.boolean().optional(),
  format: z.string().optional(),
  formula: z.string().optional(),
  returns: z.enum(["string", "double", "currency", "percent", "boolean", "date", "datetime"]).optional(),
  rollup: z
    .strictObject({
      child: z.string(),
      reference: z.string(),
      operation: z.enum(["count", "sum", "min", "max"]),
      field: z.string().optional(),
    })
    .optional(),
});

const objectDefinition = z.strictObject({
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/),
  label: z.string().optional(),
  labelPlural: z.string().optional(),
  keyPrefix: z
    .string()
    .regex(/^[a-zA-Z0-9]{3}$/)
    .optional(),
  /** Tasks and events may be about its records. */
  activities: z.boolean().default(false),
  nameField: z.strictObject({ label: z.string().optional(), format: z.string().optional() }).optional(),
  fields: z.array(fieldDefinition).default([]),
  validationRules: z
    .array(
      z.strictObject({ name: z.string(), condition: z.string(), message: z.string(), field: z.string().optional() }),
    )
    .default([]),
  recordTypes: z
    .array(
      z.strictObject({ name: z.string(), developerName: z.string().optional(), default: z.boolean().default(false) }),
    )
    .default([]),
  automations: z
    .array(
      z.strictObject({
        name: z.string(),
        on: z.array(z.enum(["create", "update"])).default(["create", "update"]),
        condition: z.string().optional(),
        set: z.record(z.string(), z.string()),
        when: z.enum(["before", "after"]).default("before"),
      }),
    )
    .default([]),
  duplicateRules: z
    .array(
      z.strictObject({
        name: z.string(),
        fields: z.array(z.string()).min(1),
        action: z.enum(["block", "alert"]).default("block"),
      }),
    )
    .default([]),
  assignmentRules: z
    .array(z.strictObject({ condition: z.string().nullable().default(null), owner: z.string() }))
    .default([]),
});

/** The JSON definition of what an org has beyond the standard: custom objects, and fields and rules of any object. */
export const definitionSchema = z.strictObject({ objects: z.array(objectDefinition) });

/** A definition as its author writes it; `definitionSchema` fills in the defaults. */
export type Definition = z.input<typeof definitionSchema>;
type ObjectDefinition = z.output<typeof objectDefinition>;
type FieldDefinition = z.output<typeof fieldDefinition>;

/** The standard objects with a definition laid over them: known names gain fields and rules, new names become objects. */
export function applyDefinition(objects: readonly SObject[], definition: Definition): SObject[] {
  const byName = new Map(objects.map((object) => [object.name.toLowerCase(), object]));
  for (const [index, entry] of definitionSchema.parse(definition).objects.entries()) {
    const known = byName.get(entry.name.toLowerCase());
    byName.set(entry.name.toLowerCase(), known ? extended(known, entry) : newObject(entry, objects.length + index));
  }
  return [...byName.values()];
}

function extended(object: SObject, entry: ObjectDefinition): SObject {
  const added = entry.fields.map(fieldOf);
  const replaced = new Set(added.map((field) => field.name.toLowerCase()));
  const kept = object.fields.filter((field) => !replaced.has(field.name.toLowerCase()));
  return makeSObject({
    ...object,
    fields: [...kept, ...recordTypeField(object, entry), ...added],
    validationRules: [...object.validationRules, ...entry.validationRules.map(ruleOf)],
    automations: [...object.automations, ...entry.automations.map(automationOf)],
    duplicateRules: [...object.duplicateRules, ...entry.duplicateRules],
    assignmentRules: [...object.assignmentRules, ...entry.assignmentRules],
    recordTypes: [...object.recordTypes, ...recordTypesOf(entry)],
  });
}

function newObject(entry: ObjectDefinition, index: number): SObject {
  const isChild = entry.fields.some((field) => field.type === "masterDetail");
  const format = entry.nameField?.format;
  const name: FieldOptions = {
    nillable: false,
    nameField: true,
    label: entry.nameField?.label ?? `${entry.label ?? entry.name} Name`,
  };
  const nameField = format ? autoNumber("Name", format, name) : text("Name", 80, { ...name, defaultedOnCreate: true });
  return makeSObject({
    name: entry.name,
    ...(entry.label === undefined ? {} : { label: entry.label }),
    ...(entry.labelPlural === undefined ? {} : { labelPlural: entry.labelPlural }),
    keyPrefix: entry.keyPrefix ?? `a${index.toString(36).padStart(2, "0").slice(-2).toUpperCase()}`,
    fields: [
      ...systemFields(),
      ...(isChild ? [] : [owner(true)]),
      nameField,
      ...activityDates().filter(({ name }) => entry.activities || name !== "LastActivityDate"),
      ...recordTypeField(undefined, entry),
      ...entry.fields.map(fieldOf),
    ],
    validationRules: entry.validationRules.map(ruleOf),
    automations: entry.automations.map(automationOf),
    duplicateRules: entry.duplicateRules,
    assignmentRules: entry.assignmentRules,
    recordTypes: recordTypesOf(entry),
  });
}

function autoNumber(name: string, format: string, options: FieldOptions): Field {
  return text(name, 30, { ...options, autoNumberFormat: format, createable: false, updateable: false });
}

function recordTypeField(object: SObject | undefined, entry: ObjectDefinition): Field[] {
  if (entry.recordTypes.length === 0 || object?.field("RecordTypeId")) return [];
  return [lookup("RecordTypeId", "RecordType", null, { label: "Record Type ID", defaultedOnCreate: true })];
}

/** Record types have no id of their own until the org has stored them; see `storeRecordTypes`. */
function recordTypesOf(entry: ObjectDefinition): RecordType[] {
  return entry.recordTypes.map((type) => ({
    id: "",
    name: type.name,
    developerName: type.developerName ?? type.name.replace(/\W+/g, "_"),
    isMaster: false,
    isDefault: type.default,
    active: true,
  }));
}

function ruleOf(rule: ObjectDefinition["validationRules"][number]): ValidationRule {
  return { ...rule, field: rule.field ?? null };
}

function automationOf(automation: ObjectDefinition["automations"][number]): Automation {
  return { ...automation, condition: automation.condition ?? null };
}

function fieldOf(definition: FieldDefinition): Field {
  const { name } = definition;
  const options = optionsOf(definition);
  switch (definition.type) {
    case "text":
      return makeField(name, "string", options);
    case "textArea":
      return makeField(name, "textarea", options);
    case "longTextArea":
      return makeField(name, "textarea", { length: 32768, ...options });
    case "checkbox":
      return makeField(name, "boolean", options);
    case "number":
      return makeField(name, "double", options);
    case "encrypted":
      return makeField(name, "encryptedstring", options);
    case "lookup":
      return lookup(name, definition.to ?? [], definition.children ?? null, options);
    case "masterDetail":
      return lookup(name, definition.to ?? [], definition.children ?? null, {
        ...options,
        nillable: false,
        cascadeDelete: true,
        updateable: false,
      });
    case "autoNumber":
      return autoNumber(name, definition.format ?? "{0000}", options);
    case "formula":
      return makeField(name, definition.returns ?? "string", { ...options, formula: definition.formula ?? '""' });
    case "rollup":
      return makeField(name, definition.returns ?? "double", { ...options, rollup: rollupOf(definition) });
    default:
      return makeField(name, definition.type, options);
  }
}

function rollupOf({ name, rollup }: FieldDefinition) {
  if (!rollup)
    throw new Error(
      `the org definition's field ${name} is a roll-up without "rollup": say child, reference and operation`,
    );
  return { ...rollup, field: rollup.field ?? null };
}

function optionsOf(definition: FieldDefinition): FieldOptions {
  const { label, length, precision, scale, required, unique, caseSensitive, externalId } = definition;
  const given = {
    label,
    length,
    precision,
    scale,
    unique,
    caseSensitive,
    externalId,
    nillable: required === undefined ? undefined : !required,
    restrictedPicklist: definition.restricted,
    restrictedDelete: definition.restrictDelete,
    defaultValue: definition.default,
    picklist: definition.values === undefined ? undefined : definition.values.flatMap(picklistOf),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function picklistOf(entry: z.output<typeof picklistEntry>) {
  if (typeof entry === "string") return picklistValues(entry);
  return [{ value: entry.value, label: entry.label ?? entry.value, active: entry.active, isDefault: entry.default }];
}
