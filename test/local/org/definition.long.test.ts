import { expect, test } from "vitest";
import type { Definition } from "../../../lib/local/org/metadata/definition.ts";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { Client, ManualClock, openOrg } from "./support/open-org.ts";

const DEFINITION: Definition = {
  objects: [
    {
      name: "Invoice__c",
      nameField: { format: "INV-{YYYY}-{0000}" },
      recordTypes: [{ name: "Domestic", default: true }, { name: "Foreign" }],
      fields: [
        { name: "Status__c", type: "picklist", values: ["Draft", { value: "Paid", default: true }], restricted: true },
        {
          name: "Total__c",
          type: "rollup",
          rollup: { child: "Line__c", reference: "Invoice__c", operation: "sum", field: "Amount__c" },
        },
        { name: "Due__c", type: "date" },
        { name: "Title__c", type: "formula", formula: 'UPPER(Status__c) & " " & Name', returns: "string" },
        { name: "Reviewed__c", type: "datetime" },
      ],
      validationRules: [
        {
          name: "Paid_stays_paid",
          condition: 'AND(ISCHANGED(Status__c), ISPICKVAL(PRIORVALUE(Status__c), "Paid"))',
          message: "A paid invoice stays paid.",
          field: "Status__c",
        },
      ],
      automations: [{ name: "Review", on: ["update"], when: "after", set: { Reviewed__c: "NOW()" } }],
    },
    {
      name: "Line__c",
      fields: [
        { name: "Invoice__c", type: "masterDetail", to: "Invoice__c", children: "Lines" },
        { name: "Amount__c", type: "currency", precision: 8, scale: 2, required: true },
      ],
    },
  ],
};

test("an object of one's own numbers, defaults, computes, sums, refuses and runs automations, and its master takes details along", async () => {
  const org = await openOrg({ definition: DEFINITION, clock: new ManualClock("2026-02-03T04:05:06Z") });
  const id = await org.create("Invoice__c", {});
  const path = `sobjects/Invoice__c/${id}`;
  const line = await org.create("Line__c", { Invoice__c: id, Amount__c: 10.126 });
  await org.create("Line__c", { Invoice__c: id, Amount__c: 5 });
  const found = () =>
    org.records("SELECT Name, RecordTypeId, Total__c, Reviewed__c FROM Invoice__c WHERE Title__c LIKE 'PAID INV%'");

  expect(await found()).toMatchObject([
    { Name: "INV-2026-0001", RecordTypeId: expect.stringMatching(/^012/), Total__c: 15.126, Reviewed__c: null },
  ]);
  expect((await org.call("PATCH", path, { Status__c: "Draft" })).json).toEqual([
    { errorCode: "FIELD_CUSTOM_VALIDATION_EXCEPTION", message: "A paid invoice stays paid.", fields: ["Status__c"] },
  ]);
  const refusal = async (fields: object) => (await org.call("PATCH", path, fields)).json[0]?.["errorCode"];
  expect(await refusal({ Status__c: "Old" })).toBe("INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST");
  expect(await refusal({ Total__c: 1 })).toBe("INVALID_FIELD_FOR_INSERT_UPDATE");
  await org.call("DELETE", `sobjects/Line__c/${line}`);
  await org.call("PATCH", path, { Due__c: "2026-02-02" });
  expect(await found()).toMatchObject([{ Total__c: 5, Reviewed__c: "2026-02-03T04:05:06.000+0000" }]);
  await org.call("DELETE", path);
  expect(await org.records("SELECT Id FROM Line__c")).toEqual([]);
});

test("a definition grows with its org: new fields are there after a restart, the records too", async () => {
  const dataDir = temporaryFolder();
  const first = await startOrg({ dataDir, definition: DEFINITION });
  await new Client(first).create("Invoice__c", { Due__c: "2026-01-01" });
  await first.close();

  const more = { name: "Invoice__c", fields: [{ name: "Note__c", type: "text" as const }] };
  const org = await openOrg({ dataDir, definition: { objects: [...DEFINITION.objects, more] } });

  expect(await org.records("SELECT Due__c, Note__c FROM Invoice__c")).toMatchObject([
    { Due__c: "2026-01-01", Note__c: null },
  ]);
});
