/**
 * The configuration document (contract 2.7) of the demo workspace: Contact and Account, both ways. `External_Id__c` is the
 * upsert field, because only with one a write whose answer was lost can be sent again without making a second record.
 */
export const DEMO_CONFIGURATION = {
  version: 1,
  mappings: [
    mapping("Account", ["Name", "AccountNumber", "BillingCity", "Industry", "Phone", "Website"]),
    mapping("Contact", ["AccountId", "Email", "FirstName", "LastName", "Phone", "Title"]),
  ],
};

/** Columns that identify a demo row in Salesforce. Rows that an application inserts get a value by default. */
export const DEMO_KEY_DEFAULTS = `
  ALTER TABLE salesforce.account ALTER COLUMN external_id__c SET DEFAULT gen_random_uuid()::text;
  ALTER TABLE salesforce.contact ALTER COLUMN external_id__c SET DEFAULT gen_random_uuid()::text;
`;

function mapping(object: string, fields: readonly string[]) {
  const all = [...fields, "CreatedDate", "External_Id__c", "Id", "IsDeleted", "SystemModstamp"].sort();
  return {
    object_name: object,
    config: {
      access: "read_write",
      sf_notify_enabled: false,
      sf_polling_seconds: 10,
      upsert_field: "External_Id__c",
      fields: Object.fromEntries(all.map((field) => [field, {}])),
    },
  };
}
