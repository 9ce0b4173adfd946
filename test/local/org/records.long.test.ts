import fc from "fast-check";
import { expect, test } from "vitest";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { Client, type Json, openOrg } from "./support/open-org.ts";

const of = (type: string) => (fields: object) => ({ attributes: { type }, ...fields });
const account = of("Account");

/** The code of each part's refusal, undefined where it was saved. */
const codesOf = (results: Json) => [...results].map((result) => result["errors"]?.[0]?.["statusCode"]);

test("a save is refused in Salesforce's words, with the fields it is about", async () => {
  const org = await openOrg();
  for (const [fields, errorCode, message] of [
    [{ LastName: "" }, "REQUIRED_FIELD_MISSING", "Required fields are missing: [LastName]"],
    [{ Email: "nope" }, "INVALID_EMAIL_ADDRESS", "Email: invalid email address: nope"],
    [{ Title: "x".repeat(129) }, "STRING_TOO_LONG", `Title: data value too large: ${"x".repeat(129)} (max length=128)`],
    [{ Birthdate: "1699-12-31" }, "FIELD_INTEGRITY_EXCEPTION", "Birthdate: invalid date: Thu Dec 31 00:00:00 GMT 1699"],
    [{ Birthdate: "4001-01-01" }, "FIELD_INTEGRITY_EXCEPTION", "Birthdate: invalid date: Mon Jan 01 00:00:00 GMT 4001"],
    [{ AccountId: "003000000000001AAA" }, "MALFORMED_ID", "AccountId: id value of incorrect type: 003000000000001AAA"],
    [{ AccountId: "001000000000001AAA" }, "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id"],
    [
      { Name: "Ann R" },
      "INVALID_FIELD_FOR_INSERT_UPDATE",
      expect.stringContaining("Unable to create/update fields: Name."),
    ],
  ] as const)
    expect((await org.call("POST", "sobjects/Contact", { LastName: "R", ...fields })).json).toEqual([
      { errorCode, message, fields: Object.keys(fields) },
    ]);
  const parent = { LastName: "R", Account: { External_Id__c: "A-9" } };
  expect((await org.call("POST", "sobjects/Contact", parent)).json).toMatchObject([{ errorCode: "INVALID_FIELD" }]);
  expect(await org.records("SELECT Id FROM Contact")).toEqual([]);
});

test("a unique value is held by one record, whatever its case, and a key or id twice in a request fails both times", async () => {
  const org = await openOrg();
  const id = await org.create("Account", { Name: "A", External_Id__c: "key" });
  const path = "composite/sobjects/Account/External_Id__c";
  const record = (External_Id__c: string, Name?: string) => account({ External_Id__c, Name });

  const second = await org.call("POST", "sobjects/Account", { Name: "B", External_Id__c: "KEY" });
  const upserts = await org.call("PATCH", path, {
    records: [record("a", "A"), record("b"), record("c", "C"), record("C", "C")],
  });
  const updates = await org.call("PATCH", "composite/sobjects", { records: [account({ id }), account({ id })] });

  expect(second.json).toMatchObject([
    {
      errorCode: "DUPLICATE_VALUE",
      message: `duplicate value found: External_Id__c duplicates value on record with id: ${id}`,
    },
  ]);
  expect(codesOf(upserts.json)).toEqual([undefined, "REQUIRED_FIELD_MISSING", "DUPLICATE_VALUE", "DUPLICATE_VALUE"]);
  expect(upserts.json[3]?.["errors"]?.[0]).toMatchObject({ message: "Duplicate external id specified: C" });
  expect(codesOf(updates.json)).toEqual(["DUPLICATE_VALUE", "DUPLICATE_VALUE"]);
});

test("a deleted record takes its details along, is seen by queryAll alone, and is no parent any more", async () => {
  const org = await openOrg();
  const parent = await org.create("Account", { Name: "Acme" });
  const child = await org.create("Contact", { LastName: "Rose", AccountId: parent });
  const task = await org.create("Task", { Subject: "Call", WhatId: parent });

  await org.call("DELETE", `sobjects/Account/${parent}`);
  const change = await org.call("PATCH", `sobjects/Contact/${child}`, { LastName: "Lily" });
  const below = await org.call("POST", "sobjects/Contact", { LastName: "Lily", AccountId: parent });

  const gone = [{ errorCode: "ENTITY_IS_DELETED", message: "entity is deleted", fields: [] }];
  expect([change.status, change.json, below.json]).toEqual([404, gone, gone]);
  expect(await org.records("SELECT Id FROM Contact")).toEqual([]);
  const deleted = await org.records("SELECT Id, IsDeleted FROM Contact", "queryAll");
  expect(deleted).toMatchObject([{ Id: child, IsDeleted: true }]);
  expect(await org.records("SELECT Id, WhatId FROM Task")).toMatchObject([{ Id: task, WhatId: null }]);
});

test("what is more than a request may hold, or is none, is refused whole", async () => {
  const org = await openOrg();
  const save = (records: readonly unknown[]) => org.call("POST", "composite/sobjects", { records });
  const query = (_: unknown, at: number) => ({ method: "GET", url: `${org.base}/query/?q=x`, referenceId: `q${at}` });
  const [acme, task] = [account({ Name: "Acme" }), of("Task")({ Subject: "Call" })];
  const tenChunks = [0, 1, 2, 3, 4].flatMap(() => [acme, acme, task]);

  const refused = [
    await save(Array(201).fill(acme)),
    await save([...tenChunks, acme]),
    await save([acme, account({ Name: "B", AnnualRevenue: "many" })]),
    await save([null]),
    await org.call("POST", "composite", { compositeRequest: Array.from({ length: 6 }, query) }),
    await org.call("POST", "composite", { compositeRequest: [null] }),
    await org.call("POST", "sobjects/Account", "{", { "Content-Type": "application/json" }),
  ];

  expect(refused.map(({ status }) => status)).toEqual(Array(7).fill(400));
  expect(await org.records("SELECT Id FROM Account")).toEqual([]);
  expect((await save(tenChunks)).status).toBe(200);
  expect((await org.get("nowhere")).status).toBe(404);
  expect((await org.call("PUT", "limits", {})).status).toBe(405);
});

test("no value that a client can put into a field makes the org fail, and what it accepts it gives back", async () => {
  const org = await openOrg();
  const { json } = await org.get("sobjects/Contact/describe");
  const names = [...(json["fields"] ?? [])]
    .filter((field) => field["createable"])
    .map((field) => String(field["name"]));
  const values = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary", maxLength: 40 }));

  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...names), values, async (name, value) => {
      const answer = await org.call("POST", "sobjects/Contact", { LastName: "Rose", [name]: value });
      expect([201, 400], `${name}: ${answer.text}`).toContain(answer.status);
      if (answer.status === 201) expect((await org.get(`sobjects/Contact/${answer.json["id"]}`)).status).toBe(200);
    }),
    { numRuns: 200, examples: names.map((name): [string, fc.JsonValue] => [name, { toString: false }]) },
  );
});

test("a field that a user may not read is not there for that user alone, and one that may not be edited is read only", async () => {
  const org = await openOrg();
  const { username, accessToken } = await createOrgUser(org.org, "narrow");
  const narrow = new Client(org.org);
  narrow.token = accessToken;
  const right = { username, object: "Contact" };
  await org.call("PUT", "/_sim/field-access", { ...right, field: "Title", read: false });
  await org.call("PUT", "/_sim/field-access", { ...right, field: "Phone" });
  const id = await org.create("Contact", { LastName: "Seen", Title: "Hidden", Phone: "1" });
  const fieldsOf = async (client: Client) =>
    new Map([...((await client.get("sobjects/Contact/describe")).json["fields"] ?? [])].map((f) => [f["name"], f]));
  const codeOf = async (fields: object) =>
    (await narrow.call("PATCH", `sobjects/Contact/${id}`, fields)).json[0]?.["errorCode"];

  const [seen, whole] = [await fieldsOf(narrow), await fieldsOf(org)];
  expect([seen.has("Title" as unknown as Json), whole.has("Title" as unknown as Json)]).toEqual([false, true]);
  expect(seen.get("Phone" as unknown as Json)).toMatchObject({ createable: false, updateable: false });
  expect((await narrow.query("SELECT Title FROM Contact")).json[0]).toMatchObject({ errorCode: "INVALID_FIELD" });
  const bySoap = `<update><sObjects><type>Contact</type><Id>${id}</Id><Title>x</Title></sObjects></update>`;
  expect((await narrow.soap(bySoap)).text).toContain("<sf:exceptionCode>INVALID_FIELD</sf:exceptionCode>");
  expect(await codeOf({ Phone: "2" })).toBe("INVALID_FIELD_FOR_INSERT_UPDATE");
  expect(await codeOf({ Title: "x" })).toBe("INVALID_FIELD");
  expect(await codeOf({ LastName: "Changed" })).toBeUndefined();
  expect(await org.records("SELECT LastName, Title, Phone FROM Contact")).toMatchObject([
    { LastName: "Changed", Title: "Hidden", Phone: "1" },
  ]);
});
