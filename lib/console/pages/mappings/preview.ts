import type { ReadObjectData } from "bridge/api";

type Field = ReadObjectData["fields"][number];

/** Fields that are always synced and need not be chosen. */
export const ALWAYS_SYNCED = ["Id", "SystemModstamp", "IsDeleted"];

/** The columns that every mapped table has beside those of its fields. */
export const OWN_COLUMNS = ["id", "sfid", "systemmodstamp", "isdeleted", "_ab_lastop", "_ab_err"];

/** The name of a table that Bridge makes for an object. */
export const tableOf = (object: string): string => object.toLowerCase();

/** The field that records can be met by when rows are written: one that Salesforce keeps unique before others; null: none can. */
export function proposedUpsertField(fields: readonly Field[]): string | null {
  const able = fields.filter(
    ({ name, external_id, createable, mappable }) => external_id && createable && mappable && name !== "Id",
  );
  return (able.find(({ unique }) => unique) ?? able[0])?.name ?? null;
}

/** What a new mapping begins with: the fields that Salesforce requires, and the upsert field. */
export function proposedFields(fields: readonly Field[]): ReadonlySet<string> {
  const required = fields.filter((field) => field.required && field.mappable).map(({ name }) => name);
  return new Set([...required, ...[proposedUpsertField(fields)].filter((name) => name !== null)]);
}

/** Required fields that are not chosen, nor named by a parent's key: without them Salesforce refuses a row that is inserted. */
export function lackingOf(fields: readonly Field[], chosen: ReadonlySet<string>): readonly string[] {
  const isByParent = ({ name, reference_to }: Field) => {
    const relationship = `${name.replace(/Id$/, "").replace(/__c$/, "__r")}__`;
    return reference_to.length > 0 && [...chosen].some((one) => one.startsWith(relationship));
  };
  return fields
    .filter((field) => field.required && field.mappable && !chosen.has(field.name) && !isByParent(field))
    .map(({ name }) => name);
}
