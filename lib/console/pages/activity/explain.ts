/** What an error of Salesforce means for the row, and what to do, by its status code; null where its own words say it all. */
export function explain(error: string | null): string | null {
  const code = /^([A-Z_]+)/.exec(error ?? "")?.[1];
  return (code && EXPLAINED[code]) || null;
}

const EXPLAINED: Readonly<Record<string, string>> = {
  WAITS_FOR_PARENT:
    "The row names its parent by an external id that no record has yet. It is sent as soon as the parent is saved. If the key is wrong, correct it in the row.",
  REQUIRED_FIELD_MISSING:
    "A field that Salesforce requires is empty. Fill its column: the update sends the row again. Or ask an administrator to make the field optional.",
  INVALID_EMAIL_ADDRESS:
    "Salesforce rejects this e-mail address. Correct it in the row; the update is sent automatically.",
  DUPLICATE_VALUE:
    "Another record has this value in a unique field. Find it in Salesforce, then change one of the two or delete the row.",
  DUPLICATES_DETECTED:
    "A duplicate rule of the org refused the row. Merge the two records, or let the rule allow API users to save.",
  FIELD_CUSTOM_VALIDATION_EXCEPTION:
    "A validation rule of the org refused the row, with the message above. Change the row so that it meets the rule, or ask the administrator.",
  STRING_TOO_LONG: "The text is longer than the field. Shorten it in the row.",
  INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST:
    "The picklist does not have this value. Add it in Salesforce, or change the row.",
  CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY:
    "A trigger or flow of the org failed. Its owner finds it in the org's debug log; retry when it is fixed.",
  INSUFFICIENT_ACCESS_OR_READONLY:
    "Bridge's user may not write this record. Give it the right in Salesforce, then retry.",
  INSUFFICIENT_ACCESS_ON_CROSS_REFERENCE_ENTITY:
    "Bridge's user may not see the record that this one refers to. Share it, then retry.",
  INVALID_CROSS_REFERENCE_KEY: "The row refers to a record that does not exist. Check its lookup columns.",
  ENTITY_IS_DELETED:
    "The record, or one that it refers to, was deleted in Salesforce. Restore it there and retry, or change or delete the row.",
  UNABLE_TO_LOCK_ROW:
    "Another save locked the record for too long. Retry. If it happens often, two programs write the same parent at once.",
  INVALID_FIELD_FOR_INSERT_UPDATE:
    "Bridge's user may not write one of these fields. Give it the right, or take the field out of the mapping.",
};

/** Whether the same change may be accepted later, once something else has changed. */
export function retryHelps(error: string | null): boolean {
  return /\bretry\b/i.test(explain(error) ?? "");
}
