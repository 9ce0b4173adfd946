import { type Field, type FieldOptions, makeField, picklistValues } from "./field.ts";

/** A text field of at most `length` characters. */
export function text(name: string, length: number, options: FieldOptions = {}): Field {
  return makeField(name, "string", { length, ...options });
}

/** A text area; above 255 characters it can be neither filtered nor sorted. */
export function textArea(name: string, length: number, options: FieldOptions = {}): Field {
  return makeField(name, "textarea", { length, ...options });
}

/** A picklist of these values; `*` marks the default. */
export function picklist(name: string, values: readonly string[], options: FieldOptions = {}): Field {
  return makeField(name, "picklist", { picklist: picklistValues(...values), ...options });
}

/** A number with digits before and after the point. */
export function number(name: string, precision: number, scale: number, options: FieldOptions = {}): Field {
  return makeField(name, "double", { precision, scale, ...options });
}

/** A lookup to one object or several; its relationship is called as the field without `Id`. */
export function lookup(
  name: string,
  to: string | readonly string[],
  children: string | null,
  options: FieldOptions = {},
): Field {
  const referenceTo = typeof to === "string" ? [to] : to;
  const relationshipName = name.endsWith("__c") ? name.replace(/__c$/, "__r") : name.replace(/Id$/, "");
  return makeField(name, "reference", { referenceTo, relationshipName, childRelationshipName: children, ...options });
}

const READ_ONLY: FieldOptions = { createable: false, updateable: false };

/** A field that the org alone writes. */
export function readOnly(field: Field): Field {
  return { ...field, ...READ_ONLY };
}

/** The seven fields that every object has, Id first. */
export function systemFields(): Field[] {
  const fixed: FieldOptions = { ...READ_ONLY, nillable: false, defaultedOnCreate: true };
  const byUser = (name: string) => lookup(name, "User", null, fixed);
  return [
    makeField("Id", "id", { ...fixed, label: "Record ID", idLookup: true, caseSensitive: true }),
    makeField("IsDeleted", "boolean", { ...fixed, label: "Deleted" }),
    makeField("CreatedDate", "datetime", fixed),
    byUser("CreatedById"),
    makeField("LastModifiedDate", "datetime", fixed),
    byUser("LastModifiedById"),
    makeField("SystemModstamp", "datetime", { ...fixed, label: "System Modstamp" }),
  ];
}

/** The owner of a record; Lead, Case and custom objects may be owned by a queue as well. */
export function owner(orQueue = false): Field {
  const to = orQueue ? ["Group", "User"] : ["User"];
  return lookup("OwnerId", to, null, { nillable: false, defaultedOnCreate: true, label: "Owner ID" });
}

/** An address and its parts: `MailingStreet`, `MailingCity` … and the compound `MailingAddress`. */
export function address(prefix: string, compoundName = `${prefix}Address`): Field[] {
  const of: FieldOptions = { compoundFieldName: compoundName };
  const part = (name: string, length: number) => text(`${prefix}${name}`, length, of);
  const parts = [
    textArea(`${prefix}Street`, 255, of),
    part("City", 40),
    part("State", 80),
    part("PostalCode", 20),
    part("Country", 80),
    makeField(`${prefix}Latitude`, "double", { ...of, precision: 18, scale: 15 }),
    makeField(`${prefix}Longitude`, "double", { ...of, precision: 18, scale: 15 }),
    picklist(
      `${prefix}GeocodeAccuracy`,
      ["Address", "NearAddress", "Block", "Street", "City", "State", "Zip", "Unknown"],
      of,
    ),
  ];
  return [...parts, makeField(compoundName, "address", { parts: parts.map((field) => field.name) })];
}

/** Salutation, first and last name and the compound `Name` of a person. */
export function personName(): Field[] {
  const of: FieldOptions = { compoundFieldName: "Name" };
  return [
    text("LastName", 80, { ...of, nillable: false }),
    text("FirstName", 40, of),
    picklist("Salutation", ["Mr.", "Ms.", "Mrs.", "Dr.", "Prof."], of),
    text("Name", 121, { ...READ_ONLY, nillable: false, nameField: true, label: "Full Name" }),
  ];
}

/** The dates that the org keeps about use of a record; read only. */
export function activityDates(): Field[] {
  return [
    makeField("LastActivityDate", "date", { ...READ_ONLY, label: "Last Activity" }),
    makeField("LastViewedDate", "datetime", READ_ONLY),
    makeField("LastReferencedDate", "datetime", READ_ONLY),
  ];
}

/** Where a merged record went. */
export function masterRecord(object: string): Field {
  return lookup("MasterRecordId", object, null, { ...READ_ONLY, label: "Master Record ID" });
}
