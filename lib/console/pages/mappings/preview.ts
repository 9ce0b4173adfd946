/** The columns that every mapped table has beside those of its fields. */
export const OWN_COLUMNS: readonly (readonly [column: string, type: string, says: string])[] = [
  ["id", "bigserial", "key"],
  ["sfid", "varchar(18)", "the record's id"],
  ["systemmodstamp", "timestamptz", "last change in Salesforce"],
  ["isdeleted", "boolean", ""],
  ["_ab_lastop", "varchar", "the result of the last change"],
  ["_ab_err", "text", "what Salesforce said against it"],
];

/** Fields that are always synced and need not be chosen. */
export const ALWAYS_SYNCED = ["Id", "SystemModstamp", "IsDeleted"];

/** The name of a table that Bridge makes for an object. */
export const tableOf = (object: string): string => object.toLowerCase();
