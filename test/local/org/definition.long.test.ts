import { expect, test } from "vitest";
import type { Definition } from "../../../lib/local/org/metadata/definition.ts";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { Client, freshFolder, ManualClock, openOrg } from "./support/open-org.ts";

const DEFINITION: Definition = {
  objects: [
    {
      name: "Invoice__c",
      label: "Invoice",
      labelPlural: "Invoices",
      nameField: { format: "INV-{YYYY}-{0000}" },
      recordTypes: [{ name: "Domestic", default: true }, { name: "Foreign" }],
      fields: [
        { name: "Account__c", type: "lookup", to: "Account", children: "Invoices" },
        {
          name: "Status__c",
          type: "picklist",
          values: ["Draft", { value: "Paid", default: true }, { value: "Old", active: false }],
          restricted: true,
        },
        { name: "Tags__c", type: "multipicklist", values: ["A", "B", "C"] },
        {
          name: "Total__c",
          type: "rollup",
          rollup: { child: "Line__c", reference: "Invoice__c", operation: "sum", field: "Amount__c" },
        },
        { name: "Lines__c", type: "rollup", rollup: { child: "Line__c", reference: "Invoice__c", operation: "count" } },
        { name: "Title__c", type: "formula", formula: 'UPPER(Account__r.Name) & " " & Name', returns: "string" },
        { name: "Due__c", type: "date" },
        {
          name: "Overdue__c",
          type: "formula",
          formula: "AND(NOT(ISBLANK(Due__c)), Due__c < TODAY())",
          returns: "boolean",
        },
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

const open = () => openOrg({ definition: DEFINITION, clock: new ManualClock("2026-02-03T04:05:06Z") });

test("custom objects number themselves, default their picklists and record types, and compute formulas when read", async () => {
  const org = await open();
  const account = await org.create("Account", { Name: "Acme" });
  await org.create("Invoice__c", { Account__c: account, Due__c: "2026-02-02" });

  const records = await org.records(
    "SELECT Name, Status__c, Title__c, Overdue__c, RecordTypeId FROM Invoice__c WHERE Overdue__c = true AND Title__c LIKE 'ACME%' ORDER BY Title__c",
  );

  expect(records).toMatchObject([
    {
      Name: "INV-2026-0001",
      Status__c: "Paid",
      Title__c: "ACME INV-2026-0001",
      Overdue__c: true,
      RecordTypeId: expect.stringMatching(/^012/),
    },
  ]);
  expect(await org.records("SELECT Name, (SELECT Name FROM Invoices) FROM Account")).toMatchObject([
    { Invoices: { records: [{ Name: "INV-2026-0001" }] } },
  ]);
  expect(
    await org.records("SELECT DeveloperName FROM RecordType WHERE SobjectType = 'Invoice__c' ORDER BY Name"),
  ).toMatchObject([{ DeveloperName: "Domestic" }, { DeveloperName: "Foreign" }]);
});

test("roll-ups follow their details, and a master takes its details along", async () => {
  const org = await open();
  const invoice = await org.create("Invoice__c", {});
  const line = await org.create("Line__c", { Invoice__c: invoice, Amount__c: 10.126 });
  await org.create("Line__c", { Invoice__c: invoice, Amount__c: 5 });

  const full = await org.records("SELECT Total__c, Lines__c FROM Invoice__c");
  await org.call("DELETE", `sobjects/Line__c/${line}`);
  const less = await org.records("SELECT Total__c, Lines__c FROM Invoice__c");
  await org.call("DELETE", `sobjects/Invoice__c/${invoice}`);

  expect([full, less]).toMatchObject([[{ Total__c: 15.126, Lines__c: 2 }], [{ Total__c: 5, Lines__c: 1 }]]);
  expect(await org.records("SELECT Id FROM Line__c")).toEqual([]);
});

test("an update is refused by a validation rule, a restricted picklist and a roll-up", async () => {
  const org = await open();
  const id = await org.create("Invoice__c", {});
  const refusal = async (fields: object) => (await org.call("PATCH", `sobjects/Invoice__c/${id}`, fields)).json[0];

  expect(await refusal({ Status__c: "Draft" })).toMatchObject({
    errorCode: "FIELD_CUSTOM_VALIDATION_EXCEPTION",
    message: "A paid invoice stays paid.",
    fields: ["Status__c"],
  });
  expect(await refusal({ Status__c: "Old" })).toMatchObject({ errorCode: "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST" });
  expect(await refusal({ Total__c: 1 })).toMatchObject({ errorCode: "INVALID_FIELD_FOR_INSERT_UPDATE" });
});

test("automation changes further fields on save, so that more comes back than was sent", async () => {
  const org = await open();
  const id = await org.create("Invoice__c", {});

  await org.call("PATCH", `sobjects/Invoice__c/${id}`, { Tags__c: "A;B" });

  expect(await org.records("SELECT Reviewed__c FROM Invoice__c WHERE Tags__c INCLUDES ('A;B', 'C')")).toMatchObject([
    { Reviewed__c: "2026-02-03T04:05:06.000+0000" },
  ]);
  expect(await org.records("SELECT Id FROM Invoice__c WHERE Tags__c EXCLUDES ('B')")).toEqual([]);
});

test("a definition grows with its org: new fields are there after a restart, the records too", async () => {
  const dataDir = await freshFolder();
  const first = await startOrg({ dataDir, definition: DEFINITION });
  await new Client(first).create("Invoice__c", { Due__c: "2026-01-01" });
  await first.close();

  const org = await openOrg({
    dataDir,
    definition: {
      objects: [...DEFINITION.objects, { name: "Invoice__c", fields: [{ name: "Note__c", type: "text" }] }],
    },
  });

  expect(await org.records("SELECT Due__c, Note__c FROM Invoice__c")).toMatchObject([
    { Due__c: "2026-01-01", Note__c: null },
  ]);
});
