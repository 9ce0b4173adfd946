/** PostgreSQL cuts a longer name, so that two names could become one (PostgreSQL, Identifiers and Key Words). */
const MAX_IDENTIFIER_BYTES = 63;

/** An API name of an object or a field, with namespace and suffix if it has them. Nothing else reaches SOQL. */
const API_NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** A table as it is written without quotes. Nothing else reaches SQL. */
const TABLE_NAME = /^[a-z_][a-z0-9_]*$/;

/** Tables of the service's own, and those that Heroku Connect leaves behind. */
const RESERVED = /^(_bridge|_trigger_log|_hcmeta$|_sf_event_log$)/;

/** What is wrong with an API name; null: nothing. Its lower-case form becomes a table's or a column's name. */
export function apiNameProblem(name: string): string | null {
  if (!API_NAME.test(name)) return "must be an API name of Salesforce: a letter, then letters, digits and underscores";
  return tooLong(name);
}

/**
 * What is wrong with the name of a field, which may be a parent's: `Account.External_Id__c`; null: nothing. The column
 * has two underscores for the dot.
 */
export function fieldNameProblem(name: string): string | null {
  const [relationship = "", field, ...more] = name.split(".");
  if (field === undefined || more.length > 0) return apiNameProblem(name);
  return apiNameProblem(relationship) ?? apiNameProblem(field) ?? tooLong(`${relationship}__${field}`);
}

/** What is wrong with a table's name; null: nothing. */
export function tableNameProblem(name: string): string | null {
  if (!TABLE_NAME.test(name)) {
    return "must be a bare table name: lower-case letters, digits and underscores, not beginning with a digit";
  }
  if (RESERVED.test(name)) return "is a name that the service keeps for itself";
  return tooLong(name);
}

function tooLong(name: string): string | null {
  const isTooLong = Buffer.byteLength(name) > MAX_IDENTIFIER_BYTES;
  return isTooLong ? `must be at most ${MAX_IDENTIFIER_BYTES} bytes, for PostgreSQL would cut it` : null;
}
