import { expect, test } from "vitest";
import { ManualClock, openOrg } from "./support/open-org.ts";

// One test per documented sample of the protocol that no other file holds: the shape, key by key.
const ANY = expect.anything();
const TEXT = expect.any(String);
const open = (options = {}) => openOrg({ clock: new ManualClock("2026-02-03T04:05:06Z"), ...options });

test("the resources of a version", async () => {
  const org = await open();

  const { json } = await org.get("");

  expect(json).toMatchObject({
    query: `${org.base}/query`,
    queryAll: `${org.base}/queryAll`,
    sobjects: `${org.base}/sobjects`,
    limits: `${org.base}/limits`,
    composite: `${org.base}/composite`,
    jobs: `${org.base}/jobs`,
  });
  expect(String(json["identity"])).toContain(`/id/${org.org.organizationId}/005`);
});

test("columns=true describes the columns of a query", async () => {
  const org = await open();

  const { json } = await org.get(
    `query?q=${encodeURIComponent("SELECT Id, Name, AnnualRevenue FROM Account")}&columns=true`,
  );

  expect(json).toMatchObject({ entityName: "Account", groupBy: false, idSelected: true, keyPrefix: "001" });
  expect(json["columnMetadata"]?.[0]).toEqual({
    aggregate: false,
    apexType: "Id",
    booleanType: false,
    columnName: "Id",
    custom: false,
    displayName: "Id",
    foreignKeyName: null,
    insertable: false,
    joinColumns: [],
    numberType: false,
    textType: true,
    updatable: false,
  });
  expect(json["columnMetadata"]?.[2]).toMatchObject({
    apexType: "Double",
    numberType: true,
    textType: false,
    updatable: true,
  });
});

test("explain gives a plan", async () => {
  const org = await open();

  const { json } = await org.get(`query?explain=${encodeURIComponent("SELECT Id FROM Account")}`);

  expect(json["plans"]?.[0]).toMatchObject({
    cardinality: 0,
    fields: [],
    leadingOperationType: "TableScan",
    notes: [],
    relativeCost: 1,
    sobjectCardinality: 0,
    sobjectType: "Account",
  });
});

test("values on REST: datetimes with +0000, dates, numbers, booleans, nulls for empty text, compound addresses", async () => {
  const org = await open();
  const id = await org.create("Contact", {
    LastName: "Rose  ",
    Birthdate: "1980-02-29",
    MailingCity: "Köln",
    Title: "",
    EmailBouncedDate: "2026-01-01T01:00:00+01:00",
  });

  const { json } = await org.get(`sobjects/Contact/${id}`);

  expect(json).toMatchObject({
    LastName: "Rose",
    Birthdate: "1980-02-29",
    CreatedDate: "2026-02-03T04:05:06.000+0000",
    EmailBouncedDate: "2026-01-01T00:00:00.000+0000",
    Title: null,
    DoNotCall: false,
    OtherAddress: null,
    MailingAddress: {
      street: null,
      city: "Köln",
      state: null,
      postalCode: null,
      country: null,
      latitude: null,
      longitude: null,
      geocodeAccuracy: null,
    },
  });
});

test("a whole double is written with its point, an integer without, and both can be referred to", async () => {
  const org = await open();
  const id = await org.create("Account", { Name: "Acme", AnnualRevenue: 12, NumberOfEmployees: 12 });
  const url = `${org.base}/sobjects/Account`;

  const { text } = await org.query("SELECT AnnualRevenue, NumberOfEmployees FROM Account");
  await org.call("POST", "composite", {
    compositeRequest: [
      { method: "GET", url: `${url}/${id}`, referenceId: "a" },
      {
        method: "POST",
        url,
        referenceId: "b",
        body: { Name: "@{a.AnnualRevenue} of Acme", AnnualRevenue: "@{a.AnnualRevenue}" },
      },
    ],
  });

  expect(text).toContain('"AnnualRevenue":12.0,"NumberOfEmployees":12}');
  expect(await org.records("SELECT Name, AnnualRevenue FROM Account WHERE Name LIKE '% of Acme'")).toMatchObject([
    { Name: "12 of Acme", AnnualRevenue: 12 },
  ]);
});

test("a key that several records hold answers 300 with their paths, for reading and for upsert", async () => {
  const org = await open({
    definition: {
      objects: [{ name: "Thing__c", fields: [{ name: "Ext__c", type: "text", length: 20, externalId: true }] }],
    },
  });
  const ids = [await org.create("Thing__c", { Ext__c: "x" }), await org.create("Thing__c", { Ext__c: "x" })];

  const read = await org.get("sobjects/Thing__c/Ext__c/x");
  const upsert = await org.call("PATCH", "sobjects/Thing__c/Ext__c/x", { Name: "T" });
  const soap = await org.soap(
    "<upsert><externalIDFieldName>Ext__c</externalIDFieldName><sObjects><type>Thing__c</type><Ext__c>x</Ext__c></sObjects></upsert>",
  );

  const paths = ids.map((id) => `${org.base}/sobjects/Thing__c/${id}`);
  expect([read.status, read.json]).toEqual([300, paths]);
  expect([upsert.status, upsert.json]).toEqual([300, paths]);
  expect(soap.text).toContain("<statusCode>DUPLICATE_EXTERNAL_ID</statusCode>");
});

test("upserts that fail under all-or-none all say created: true", async () => {
  const org = await open();
  const record = (External_Id__c: string, more: object = {}) => ({
    attributes: { type: "Account" },
    External_Id__c,
    Name: "A",
    ...more,
  });

  const { json } = await org.call("PATCH", "composite/sobjects/Account/External_Id__c", {
    allOrNone: true,
    records: [record("1"), record("2", { OwnerId: "nonsense" }), record("3")],
  });

  expect([...json].map((result) => [result["created"], result["errors"]?.[0]?.["statusCode"]])).toEqual([
    [true, "ALL_OR_NONE_OPERATION_ROLLED_BACK"],
    [true, "MALFORMED_ID"],
    [true, "ALL_OR_NONE_OPERATION_ROLLED_BACK"],
  ]);
});

test("a collection refuses more than 200 records, reads up to 2,000 and answers null for what is not there", async () => {
  const org = await open();
  const id = await org.create("Account", { Name: "Acme" });

  const many = await org.call("POST", "composite/sobjects", {
    records: Array.from({ length: 201 }, () => ({ attributes: { type: "Account" }, Name: "A" })),
  });
  const read = await org.call("POST", "composite/sobjects/Account", {
    ids: ["001000000000000AAA", id],
    fields: ["Name"],
  });

  expect([many.status, many.json[0]?.["message"]]).toEqual([
    400,
    "The number of records specified exceeds the limit of 200",
  ]);
  expect(read.json).toMatchObject([null, { attributes: { type: "Account" }, Name: "Acme" }]);
});

test("a collection takes ten chunks of one object each, and no eleventh", async () => {
  const org = await open();
  const account = { attributes: { type: "Account" }, Name: "Acme" };
  const task = { attributes: { type: "Task" }, Subject: "Call" };
  const save = (...records: object[]) => org.call("POST", "composite/sobjects", { records });
  const five = [0, 1, 2, 3, 4].flatMap(() => [account, account, task]);

  const ten = await save(...five);
  const eleven = await save(...five, account);
  const ids = [...ten.json].map((result) => result["id"]).join();
  const removed = await org.call("DELETE", `composite/sobjects?ids=${ids},${String(ten.json[0]?.["id"])}`);

  expect([ten.status, eleven.status, removed.status]).toEqual([200, 400, 400]);
  expect(eleven.json[0]).toMatchObject({ errorCode: "LIMIT_EXCEEDED", message: expect.stringContaining("10 chunks") });
});

test("updates of the same id twice in one request fail both times", async () => {
  const org = await open();
  const id = await org.create("Account", { Name: "Acme" });
  const record = { attributes: { type: "Account" }, id, Name: "B" };

  const { json } = await org.call("PATCH", "composite/sobjects", { records: [record, record] });

  expect([...json].map((result) => result["errors"]?.[0])).toEqual(
    Array.from({ length: 2 }, () => ({
      statusCode: "DUPLICATE_VALUE",
      message: `Duplicate id specified: ${id}`,
      fields: [],
    })),
  );
});

test("a composite is one call, answers each part with its status, and takes at most five queries", async () => {
  const org = await open();
  const part = (referenceId: string, url: string) => ({ method: "GET", url: `${org.base}/${url}`, referenceId });
  const soql = "query/?q=SELECT+Id+FROM+Account";

  const mixed = await org.call("POST", "composite", {
    compositeRequest: [part("m1", soql), part("x", "query/?q=SELECT+Nope+FROM+Account")],
  });
  const many = await org.call("POST", "composite", {
    compositeRequest: Array.from({ length: 6 }, (_, index) => part(`q${index}`, soql)),
  });

  expect(mixed.json["compositeResponse"]).toMatchObject([
    { body: { totalSize: 0, done: true, records: [] }, httpHeaders: {}, httpStatusCode: 200, referenceId: "m1" },
    { body: [{ errorCode: "INVALID_FIELD", message: TEXT }], httpStatusCode: 400, referenceId: "x" },
  ]);
  expect(mixed.headers.get("sforce-limit-info")).toBe("api-usage=1/15000");
  expect(many.status).toBe(400);
});

test("a record that is refused says which fields, alone and in a composite", async () => {
  const org = await open();
  const body = { LastName: "Rose", Email: "nope" };
  const part = { method: "POST", url: `${org.base}/sobjects/Contact`, referenceId: "c", body };

  const alone = await org.call("POST", "sobjects/Contact", body);
  const composite = await org.call("POST", "composite", { compositeRequest: [part] });

  expect(alone.json).toMatchObject([{ errorCode: "INVALID_EMAIL_ADDRESS", fields: ["Email"] }]);
  expect(composite.json["compositeResponse"]?.[0]?.["body"]).toEqual(alone.json);
});

test("limits and record counts", async () => {
  const org = await open();
  await org.create("Account", { Name: "A" });

  const limits = await org.get("limits");
  const count = await org.get("limits/recordCount?sObjects=Account,Contact");

  expect(limits.json).toMatchObject({
    DailyApiRequests: { Max: 15000, Remaining: 14998 },
    DailyBulkV2QueryJobs: { Max: 10000, Remaining: 10000 },
    DataStorageMB: ANY,
    FileStorageMB: ANY,
  });
  expect(count.json).toEqual({
    sObjects: [
      { count: 1, name: "Account" },
      { count: 0, name: "Contact" },
    ],
  });
});

test("what is not there is 404, what may not be done there is 405 with what may", async () => {
  const org = await open();

  const answers = [
    await org.get("sobjects/Nope/describe"),
    await org.get("nowhere"),
    await org.get("/services/data/v44.0/limits"),
    await org.get("sobjects/Account/Nope__c/1"),
    await org.call("PUT", "limits", {}),
  ];

  expect(answers.map((answer) => [answer.status, answer.json[0]?.["errorCode"], answer.json[0]?.["message"]])).toEqual([
    [404, "NOT_FOUND", "The requested resource does not exist"],
    [404, "NOT_FOUND", "The requested resource does not exist"],
    [404, "NOT_FOUND", "The requested resource does not exist"],
    [404, "NOT_FOUND", "Provided external ID field does not exist or is not accessible: Nope__c"],
    [405, "METHOD_NOT_ALLOWED", "HTTP Method 'PUT' not allowed. Allowed are GET"],
  ]);
});

test("a body that is no JSON, and a number that is none, are JSON_PARSER_ERROR", async () => {
  const org = await open();

  const broken = await org.call("POST", "sobjects/Account", "{", { "Content-Type": "application/json" });
  const wrong = await org.call("POST", "sobjects/Account", { Name: "A", AnnualRevenue: "many" });

  expect([broken.json[0]?.["errorCode"], wrong.json[0]?.["errorCode"]]).toEqual([
    "JSON_PARSER_ERROR",
    "JSON_PARSER_ERROR",
  ]);
});

test.each([
  ["POST", "composite", { compositeRequest: [null] }],
  ["POST", "composite", { compositeRequest: [] }],
  ["POST", "composite/sobjects", { records: [null] }],
  ["POST", "sobjects/Account", [1]],
])("%s %s with %j is the client's mistake and says so", async (method, path, body) => {
  const org = await open();

  const answer = await org.call(method, path, body);

  expect([answer.status, answer.json[0]?.["errorCode"]]).toEqual([400, "JSON_PARSER_ERROR"]);
});
