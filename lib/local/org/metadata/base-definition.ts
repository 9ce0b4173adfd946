import type { Definition } from "./definition.ts";

/** What every embedded org has beyond the standard objects: an external id to upsert by, and a rule to stumble over. */
export const BASE_DEFINITION: Definition = {
  objects: [
    {
      name: "Account",
      fields: [
        { name: "External_Id__c", label: "External ID", type: "text", length: 64, externalId: true, unique: true },
      ],
    },
    {
      name: "Contact",
      fields: [
        { name: "External_Id__c", label: "External ID", type: "text", length: 64, externalId: true, unique: true },
      ],
      validationRules: [
        {
          name: "Birthdate_in_the_past",
          condition: "Birthdate > TODAY()",
          message: "A birthdate lies in the past.",
          field: "Birthdate",
        },
      ],
    },
  ],
};
