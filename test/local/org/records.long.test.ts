import { expect, test } from "vitest";
import { openOrg } from "./support/open-org.ts";

test("a record goes in by REST and comes out by id, by key and by query", async () => {
  const org = await openOrg();

  const created = await org.call("POST", "sobjects/Account", {
    Name: "Acme ",
    External_Id__c: "A-1",
    AnnualRevenue: 12.4,
  });
  const id = String(created.json["id"]);
  const byId = await org.get(`sobjects/Account/${id}?fields=Name,AnnualRevenue`);
  const byKey = await org.get("sobjects/Account/External_Id__c/A-1");

  expect(created.status).toBe(201);
  expect(created.json).toEqual({ id, success: true, errors: [] });
  expect(id).toMatch(/^001[A-Za-z0-9]{15}$/);
  expect(byId.json).toMatchObject({
    attributes: { type: "Account", url: `${org.base}/sobjects/Account/${id}` },
    Name: "Acme",
    AnnualRevenue: 12.4,
  });
  expect(byKey.json).toMatchObject({ Id: id, IsDeleted: false });
  expect(await org.records(`SELECT Id FROM Account WHERE Id = '${id.slice(0, 15)}'`)).toHaveLength(1);
});

test.each([
  [
    "a required field",
    { FirstName: "Ann" },
    "REQUIRED_FIELD_MISSING",
    "Required fields are missing: [LastName]",
    ["LastName"],
  ],
  [
    "an e-mail address",
    { LastName: "R", Email: "nope" },
    "INVALID_EMAIL_ADDRESS",
    "Email: invalid email address: nope",
    ["Email"],
  ],
  [
    "a length",
    { LastName: "R", Title: "x".repeat(129) },
    "STRING_TOO_LONG",
    `Title: data value too large: ${"x".repeat(129)} (max length=128)`,
    ["Title"],
  ],
  [
    "a validation rule",
    { LastName: "R", Birthdate: "2999-01-01" },
    "FIELD_CUSTOM_VALIDATION_EXCEPTION",
    "A birthdate lies in the past.",
    ["Birthdate"],
  ],
  [
    "a wrong kind of id",
    { LastName: "R", AccountId: "003000000000001AAA" },
    "MALFORMED_ID",
    "AccountId: id value of incorrect type: 003000000000001AAA",
    ["AccountId"],
  ],
  [
    "a parent that is not there",
    { LastName: "R", AccountId: "001000000000001AAA" },
    "INVALID_CROSS_REFERENCE_KEY",
    "invalid cross reference id",
    ["AccountId"],
  ],
  [
    "a parent key that is not there",
    { LastName: "R", Account: { External_Id__c: "A-9" } },
    "INVALID_FIELD",
    "Foreign key external ID: A-9 not found for field External_Id__c in entity Account",
    undefined,
  ],
  [
    "a read-only field",
    { LastName: "R", Name: "Ann R" },
    "INVALID_FIELD_FOR_INSERT_UPDATE",
    "Unable to create/update fields: Name. Please check the security settings of this field and verify that it is read/write for your profile or permission set.",
    ["Name"],
  ],
  [
    "an unknown field",
    { LastName: "R", Bogus__c: 1 },
    "INVALID_FIELD",
    "No such column 'Bogus__c' on sobject of type Contact",
    ["Bogus__c"],
  ],
])(
  "a save that breaks %s is refused with Salesforce's code and words",
  async (_, fields, errorCode, message, named) => {
    const org = await openOrg();

    const answer = await org.call("POST", "sobjects/Contact", fields);

    expect(answer.status).toBe(400);
    expect(answer.json).toEqual([{ message, errorCode, ...(named ? { fields: named } : {}) }]);
    expect(await org.records("SELECT Id FROM Contact")).toEqual([]);
  },
);

test("a unique value is refused on a second record, whatever its case", async () => {
  const org = await openOrg();
  const first = await org.create("Account", { Name: "A", External_Id__c: "key" });

  const answer = await org.call("POST", "sobjects/Account", { Name: "B", External_Id__c: "KEY" });

  expect(answer.json).toEqual([
    {
      errorCode: "DUPLICATE_VALUE",
      message: `duplicate value found: External_Id__c duplicates value on record with id: ${first}`,
      fields: [],
    },
  ]);
});

test("an upsert by key creates with 201, then updates with 200, and with 204 in old versions", async () => {
  const org = await openOrg();

  const first = await org.call("PATCH", "sobjects/Account/External_Id__c/A-1", { Name: "One" });
  const second = await org.call("PATCH", "sobjects/Account/External_Id__c/A-1", { Name: "Two" });
  const old = await org.call("PATCH", "/services/data/v45.0/sobjects/Account/External_Id__c/A-1", { Name: "Three" });

  expect([first.status, first.json["created"]]).toEqual([201, true]);
  expect([second.status, second.json["created"], second.json["id"]]).toEqual([200, false, first.json["id"]]);
  expect([old.status, old.text]).toEqual([204, ""]);
  expect(await org.records("SELECT Name FROM Account")).toMatchObject([{ Name: "Three" }]);
});

test("in a collection each record has its own outcome, and the same key twice fails both times", async () => {
  const org = await openOrg();
  const record = (External_Id__c: string, Name?: string) => ({ attributes: { type: "Account" }, External_Id__c, Name });

  const answer = await org.call("PATCH", "composite/sobjects/Account/External_Id__c", {
    records: [record("a", "A"), record("b"), record("c", "C"), record("C", "C")],
  });

  const duplicate = (value: string) => ({
    success: false,
    created: true,
    errors: [{ statusCode: "DUPLICATE_VALUE", message: `Duplicate external id specified: ${value}`, fields: [] }],
  });
  expect(answer.json).toEqual([
    { id: expect.any(String), success: true, created: true, errors: [] },
    {
      success: false,
      created: true,
      errors: [
        { statusCode: "REQUIRED_FIELD_MISSING", message: "Required fields are missing: [Name]", fields: ["Name"] },
      ],
    },
    duplicate("c"),
    duplicate("C"),
  ]);
});

test("all or none means none when one record is refused", async () => {
  const org = await openOrg();
  const record = (fields: object) => ({ attributes: { type: "Contact" }, ...fields });

  const answer = await org.call("POST", "composite/sobjects", {
    allOrNone: true,
    records: [record({ LastName: "A" }), record({}), record({ LastName: "C" })],
  });

  expect([...answer.json].map((result) => result["errors"]?.[0]?.["statusCode"])).toEqual([
    "ALL_OR_NONE_OPERATION_ROLLED_BACK",
    "REQUIRED_FIELD_MISSING",
    "ALL_OR_NONE_OPERATION_ROLLED_BACK",
  ]);
  expect(await org.records("SELECT Id FROM Contact")).toEqual([]);
});

test("a deleted record takes its details along, answers ENTITY_IS_DELETED and is seen by queryAll alone", async () => {
  const org = await openOrg();
  const account = await org.create("Account", { Name: "Acme" });
  const contact = await org.create("Contact", { LastName: "Rose", AccountId: account });
  const task = await org.create("Task", { Subject: "Call", WhatId: account });

  const removed = await org.call("DELETE", `sobjects/Account/${account}`);
  const change = await org.call("PATCH", `sobjects/Contact/${contact}`, { LastName: "Lily" });

  expect(removed.status).toBe(204);
  expect([change.status, change.json]).toEqual([
    404,
    [{ errorCode: "ENTITY_IS_DELETED", message: "entity is deleted", fields: [] }],
  ]);
  expect(await org.records("SELECT Id FROM Contact")).toEqual([]);
  expect(await org.records("SELECT Id, IsDeleted FROM Contact", "queryAll")).toMatchObject([
    { Id: contact, IsDeleted: true },
  ]);
  expect(await org.records("SELECT Id, WhatId FROM Task")).toMatchObject([{ Id: task, WhatId: null }]);
});

test("a parent in the recycle bin is distinguished from one that was never there", async () => {
  const org = await openOrg();
  const AccountId = await org.create("Account", { Name: "Acme" });
  const contact = await org.create("Contact", { LastName: "Rose" });
  await org.call("DELETE", `sobjects/Account/${AccountId}`);

  const created = await org.call("POST", "sobjects/Contact", { LastName: "Lily", AccountId });
  const updated = await org.soap(
    `<update><sObjects><type>Contact</type><Id>${contact}</Id><AccountId>${AccountId}</AccountId></sObjects></update>`,
  );

  expect(created.json).toEqual([{ errorCode: "ENTITY_IS_DELETED", message: "entity is deleted", fields: [] }]);
  expect(updated.text).toContain(
    "<errors><message>entity is deleted</message><statusCode>ENTITY_IS_DELETED</statusCode>",
  );
});

test("a composite uses answers of its earlier parts, and with all-or-none leaves nothing behind", async () => {
  const org = await openOrg();
  const part = (referenceId: string, url: string, body: object) => ({
    method: "POST",
    url: `${org.base}/${url}`,
    referenceId,
    body,
  });
  const account = part("a", "sobjects/Account", { Name: "Acme" });

  const good = await org.call("POST", "composite", {
    compositeRequest: [account, part("c", "sobjects/Contact", { LastName: "Rose", AccountId: "@{a.id}" })],
  });
  const bad = await org.call("POST", "composite", {
    allOrNone: true,
    compositeRequest: [account, part("c", "sobjects/Contact", {})],
  });

  expect([...(good.json["compositeResponse"] ?? [])].map((entry) => entry["httpStatusCode"])).toEqual([201, 201]);
  expect(await org.records("SELECT Account.Name FROM Contact")).toMatchObject([{ Account: { Name: "Acme" } }]);
  expect([...(bad.json["compositeResponse"] ?? [])].map((entry) => entry["body"]?.[0]?.["errorCode"])).toEqual([
    "PROCESSING_HALTED",
    "REQUIRED_FIELD_MISSING",
  ]);
  expect(await org.records("SELECT Id FROM Account")).toHaveLength(1);
});

test("a collection that cannot be read as the object's fields is refused as a whole", async () => {
  const org = await openOrg();
  const send = (fields: object) =>
    org.call("POST", "composite/sobjects", {
      records: [
        { attributes: { type: "Account" }, Name: "A" },
        { attributes: { type: "Account" }, Name: "B", ...fields },
      ],
    });

  const answers = [await send({ Bogus__c: 1 }), await send({ AnnualRevenue: "many" })];

  expect(answers.map((answer) => [answer.status, answer.json[0]?.["errorCode"]])).toEqual([
    [400, "INVALID_FIELD"],
    [400, "JSON_PARSER_ERROR"],
  ]);
  expect(await org.records("SELECT Id FROM Account")).toEqual([]);
});
