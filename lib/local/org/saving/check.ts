import { evaluate, type Scope } from "../formula/evaluate.ts";
import { type Expression, parseFormula } from "../formula/parse-formula.ts";
import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject, ValidationRule } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import type { Row, Stored } from "../store/database.ts";
import type { Records } from "../store/records.ts";

/** A local part, an at sign and a domain with a dot; Salesforce is not much stricter. */
const EMAIL = /^[^\s@<>()[\],;:"]+@[^\s@<>()[\],;:"]+\.[A-Za-z0-9-]{2,}$/;

/** Refuses a row with the code and message that Salesforce has for what is wrong with it. */
export function check(catalog: Catalog, records: Records, object: SObject, row: Row, changed: readonly Field[]): void {
  requireFields(object, row);
  for (const field of changed) {
    const value = row[field.name] ?? null;
    if (value === null) continue;
    checkText(field, value);
    checkDay(field, value);
    checkPicklist(field, value);
    if (field.type === "reference") checkReference(catalog, records, field, String(value));
    if (field.unique) checkUnique(records, object, field, row);
  }
}

function requireFields(object: SObject, row: Row): void {
  const isMissing = (field: Field) => !field.nillable && field.createable && (row[field.name] ?? null) === null;
  const missing = object.fields.filter(isMissing).map((field) => field.name);
  if (missing.length === 0) return;
  throw new Refusal("REQUIRED_FIELD_MISSING", `Required fields are missing: [${missing.join(", ")}]`, {
    fields: missing,
  });
}

function checkText(field: Field, value: Stored): void {
  if (typeof value !== "string") return;
  if (field.length > 0 && value.length > field.length && field.type !== "reference" && field.type !== "id") {
    const message = `${field.name}: data value too large: ${value} (max length=${field.length})`;
    throw new Refusal("STRING_TOO_LONG", message, { fields: [field.name] });
  }
  if (field.type === "email" && !EMAIL.test(value)) {
    throw new Refusal("INVALID_EMAIL_ADDRESS", `${field.name}: invalid email address: ${value}`, {
      fields: [field.name],
    });
  }
}

/** The first and the last moment that Salesforce keeps, as SOQL's documentation has them (salesforce-facts 8). */
const [FIRST_MOMENT, LAST_MOMENT] = [Date.UTC(1700, 0, 1), Date.UTC(4000, 11, 31)];

function checkDay(field: Field, value: Stored): void {
  if (field.type !== "date" && field.type !== "datetime") return;
  const moment = new Date(String(value));
  if (moment.getTime() >= FIRST_MOMENT && moment.getTime() <= LAST_MOMENT) return;
  const message = `${field.label}: invalid date: ${inJava(moment)}`;
  throw new Refusal("FIELD_INTEGRITY_EXCEPTION", message, { fields: [field.name] });
}

/** `Fri Jan 01 00:00:00 GMT 1010`: as Java writes a moment. */
function inJava(moment: Date): string {
  const [day = "", date = "", month = "", , time = ""] = moment.toUTCString().split(" ");
  return `${day.slice(0, 3)} ${month} ${date} ${time} GMT ${moment.getUTCFullYear()}`;
}

function checkPicklist(field: Field, value: Stored): void {
  if (!field.restrictedPicklist || typeof value !== "string") return;
  const allowed = new Set(field.picklist.filter((entry) => entry.active).map((entry) => entry.value));
  const chosen = field.type === "multipicklist" ? value.split(";") : [value];
  const bad = chosen.find((entry) => !allowed.has(entry));
  if (bad === undefined) return;
  const message = `${field.label}: bad value for restricted picklist field: ${bad}`;
  throw new Refusal("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", message, { fields: [field.name] });
}

function checkReference(catalog: Catalog, records: Records, field: Field, id: string): void {
  const parent = catalog.ofId(id);
  if (!parent || !field.referenceTo.includes(parent.name)) {
    throw new Refusal("MALFORMED_ID", `${field.name}: id value of incorrect type: ${id}`, { fields: [field.name] });
  }
  if (records.isAlive(parent, id)) return;
  if (records.find(parent, id)) throw new Refusal("ENTITY_IS_DELETED", "entity is deleted");
  throw new Refusal("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", { fields: [field.name] });
}

function checkUnique(records: Records, object: SObject, field: Field, row: Row): void {
  const other = records.idsBy(object, field.name, row[field.name] ?? null).find((id) => id !== row["Id"]);
  if (other === undefined) return;
  throw new Refusal(
    "DUPLICATE_VALUE",
    `duplicate value found: ${field.name} duplicates value on record with id: ${other}`,
  );
}

/** Refuses a record that is like another one in all fields of a rule, of which it changes one. */
export function checkDuplicates(
  records: Records,
  object: SObject,
  row: Row,
  changed: readonly Field[],
  allowsDuplicates: boolean,
): void {
  const isChanged = (name: string) => changed.some((field) => field.name.toLowerCase() === name.toLowerCase());
  for (const { fields: names, action } of object.duplicateRules) {
    if ((action === "alert" && allowsDuplicates) || !names.some(isChanged)) continue;
    const [first, ...others] = names.flatMap((name) => object.field(name)?.name ?? []);
    if (first === undefined || [first, ...others].some((name) => (row[name] ?? null) === null)) continue;
    const isLike = (other: Row) => other["Id"] !== row["Id"] && others.every((name) => other[name] === row[name]);
    if (records.findBy(object, first, row[first] ?? null, MATCHED_AT_MOST).some(isLike))
      throw new Refusal("DUPLICATES_DETECTED", "Use one of these records?");
  }
}

/** Records of one value that are compared with another one. */
const MATCHED_AT_MOST = 1_000;

const conditions = new Map<string, Expression>();

/** The parsed form of a formula, read once per text. */
export function formulaOf(source: string): Expression {
  const known = conditions.get(source);
  if (known) return known;
  const parsed = parseFormula(source);
  conditions.set(source, parsed);
  return parsed;
}

/** Refuses with the administrator's words if one of the object's validation rules is true for the row. */
export function checkRules(object: SObject, scope: Scope): void {
  const broken = object.validationRules.find(
    (rule: ValidationRule) => evaluate(formulaOf(rule.condition), scope) === true,
  );
  if (!broken) return;
  throw new Refusal("FIELD_CUSTOM_VALIDATION_EXCEPTION", broken.message, {
    fields: broken.field === null ? [] : [broken.field],
  });
}
