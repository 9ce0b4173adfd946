import { expect, test } from "vitest";
import { type Client, ManualClock, openOrg } from "./support/open-org.ts";

const ACCOUNTS = [
  { Name: "Alpha", Industry: "Banking", AnnualRevenue: 10 },
  { Name: "beta", Industry: "Energy", AnnualRevenue: 20, BillingCity: "Köln" },
  { Name: "Gamma", AnnualRevenue: 30 },
];

async function withAccounts(): Promise<Client> {
  const org = await openOrg({ clock: new ManualClock() });
  for (const account of ACCOUNTS) await org.create("Account", account);
  return org;
}

test.each([
  ["Name = 'ALPHA'", ["Alpha"]],
  ["Name != 'alpha'", ["beta", "Gamma"]],
  ["Industry != 'Banking'", ["beta", "Gamma"]],
  ["Industry = null", ["Gamma"]],
  ["NOT Industry = 'Banking'", ["beta", "Gamma"]],
  ["Name LIKE '%A' AND AnnualRevenue >= 20", ["beta", "Gamma"]],
  ["(Name = 'alpha' OR Name = 'beta') AND AnnualRevenue > 10", ["beta"]],
  ["Industry IN ('banking', 'ENERGY')", ["Alpha", "beta"]],
  ["Industry NOT IN ('Banking')", ["beta", "Gamma"]],
  ["BillingCity = 'KÖLN'", ["beta"]],
  ["CreatedDate = TODAY", ["Alpha", "beta", "Gamma"]],
  ["CreatedDate < LAST_N_DAYS:3", []],
  ["SystemModstamp = 2026-02-03T05:05:06+01:00", ["Alpha", "beta", "Gamma"]],
  ["Id IN (SELECT AccountId FROM Contact)", []],
])("WHERE %s finds what Salesforce finds", async (where, names) => {
  const org = await withAccounts();

  const records = await org.records(`SELECT Name FROM Account WHERE ${where} ORDER BY Name`);

  expect(records.map((record) => record["Name"])).toEqual(names);
});

test("parents, children, aggregates and counts come in Salesforce's shapes", async () => {
  const org = await openOrg();
  const account = await org.create("Account", { Name: "Acme" });
  await org.create("Contact", { LastName: "Rose", AccountId: account });
  await org.create("Contact", { LastName: "Solo" });

  const contacts = await org.records(
    "SELECT LastName, Account.Name, Account.Owner.Name FROM Contact ORDER BY LastName",
  );
  const [parent] = await org.records("SELECT Name, (SELECT LastName FROM Contacts) FROM Account");
  const [group] = await org.records(
    "SELECT AccountId, COUNT(Id), MAX(LastName) latest FROM Contact WHERE AccountId != null GROUP BY AccountId",
  );
  const count = await org.query("SELECT COUNT() FROM Contact");

  expect(contacts).toMatchObject([
    { Account: { attributes: { type: "Account" }, Name: "Acme", Owner: { Name: "Ada Admin" } } },
    { Account: null },
  ]);
  expect(parent).toMatchObject({
    Contacts: { totalSize: 1, done: true, records: [{ attributes: { type: "Contact" }, LastName: "Rose" }] },
  });
  expect(group).toEqual({ attributes: { type: "AggregateResult" }, AccountId: account, expr0: 1, latest: "Rose" });
  expect(count.json).toEqual({ totalSize: 2, done: true, records: [] });
});

test("a parent of several kinds is read by what they have in common, or by TYPEOF", async () => {
  const org = await openOrg();
  const account = await org.create("Account", { Name: "Acme", Industry: "Energy" });
  await org.create("Task", { Subject: "Call", WhatId: account });

  const records = await org.records(
    "SELECT What.Name, What.Type, TYPEOF What WHEN Account THEN Name, Industry END FROM Task",
  );

  expect(records).toMatchObject([{ What: { Name: "Acme", Industry: "Energy" } }]);
});

test("a long answer is read page by page, each record once, and its locator ends after two days", async () => {
  const clock = new ManualClock();
  const org = await openOrg({ clock });
  const records = Array.from({ length: 200 }, (_, index) => ({ attributes: { type: "Account" }, Name: `A${index}` }));
  for (let part = 0; part < 3; part++) await org.call("POST", "composite/sobjects", { records });

  const first = await org.call(
    "GET",
    `query?q=${encodeURIComponent("SELECT Id FROM Account ORDER BY Id")}`,
    undefined,
    { "Sforce-Query-Options": "batchSize=250" },
  );
  const next = String(first.json["nextRecordsUrl"]);
  const second = await org.call("GET", next, undefined, { "Sforce-Query-Options": "batchSize=2000" });
  clock.pass(2 * 24 * 3600 * 1000 + 1);
  const late = await org.get(next);

  expect(first.json).toMatchObject({ totalSize: 600, done: false });
  expect(second.json).toMatchObject({ totalSize: 600, done: true });
  const ids = [...(first.json["records"] ?? []), ...(second.json["records"] ?? [])].map((record) =>
    String(record["Id"]),
  );
  expect(new Set(ids).size).toBe(600);
  expect([late.status, late.json]).toEqual([
    400,
    [{ errorCode: "INVALID_QUERY_LOCATOR", message: "invalid query locator" }],
  ]);
});

test("a keyset read by stamp and id neither skips nor repeats records of one second", async () => {
  const org = await openOrg({ clock: new ManualClock() });
  const records = Array.from({ length: 150 }, (_, index) => ({
    attributes: { type: "Contact" },
    LastName: `C${index}`,
  }));
  await org.call("POST", "composite/sobjects", { records });

  const seen: string[] = [];
  for (
    let after =
      "(SystemModstamp = 2026-02-03T04:05:05Z AND Id > '000000000000000AAA') OR SystemModstamp > 2026-02-03T04:05:05Z";
    ;
  ) {
    const page = await org.records(
      `SELECT Id, SystemModstamp FROM Contact WHERE ${after} ORDER BY SystemModstamp, Id LIMIT 40`,
    );
    const last = page[page.length - 1];
    if (!last) break;
    seen.push(...page.map((record) => String(record["Id"])));
    after = `(SystemModstamp = ${String(last["SystemModstamp"]).replace("+0000", "Z")} AND Id > '${String(last["Id"])}') OR SystemModstamp > ${String(last["SystemModstamp"]).replace("+0000", "Z")}`;
  }

  expect(seen).toHaveLength(150);
  expect(seen).toEqual([...new Set(seen)].toSorted());
});

const ADVICE =
  "If you are attempting to use a custom field, be sure to append the '__c' after the custom field name. Please reference your WSDL or the describe call for the appropriate names.";

test.each([
  [
    "SELECT Id, Bogus__c FROM Account",
    "INVALID_FIELD",
    `\nSELECT Id, Bogus__c FROM Account\n           ^\nERROR at Row:1:Column:12\nNo such column 'Bogus__c' on entity 'Account'. ${ADVICE}`,
  ],
  ["SELECT Id FROM Bogus", "INVALID_TYPE", expect.stringContaining("sObject type 'Bogus' is not supported.")],
  [
    "SELECT Id FROM Account WHERE Name = 'a' AND Name = 'b' OR Name = 'c'",
    "MALFORMED_QUERY",
    expect.stringContaining("unexpected token: OR"),
  ],
  ["SELECT Id Frm Account", "MALFORMED_QUERY", expect.stringContaining("unexpected token: 'Account'")],
  [
    "SELECT Id FROM Account WHERE Description = 'x'",
    "INVALID_FIELD",
    "field 'Description' can not be filtered in a query call",
  ],
  [
    "SELECT Id FROM Account WHERE AnnualRevenue = '5'",
    "INVALID_FIELD",
    expect.stringContaining("must be of type currency"),
  ],
  ["SELECT Id FROM Account WHERE Id = 'nonsense'", "INVALID_QUERY_FILTER_OPERATOR", "invalid ID field: nonsense"],
  [
    "SELECT Name, COUNT(Id) FROM Account",
    "MALFORMED_QUERY",
    expect.stringContaining("Field must be grouped or aggregated: Name"),
  ],
  ["SELECT FIELDS(ALL) FROM Account", "MALFORMED_QUERY", "The SOQL FIELDS function must have a LIMIT of at most 200"],
  ["SELECT Id FROM Account WHERE Name = ('a', 'b')", "MALFORMED_QUERY", "unexpected token: '='"],
  ["SELECT Id FROM Account OFFSET 2001", "NUMBER_OUTSIDE_VALID_RANGE", "Maximum SOQL offset allowed is 2000"],
])("%s is refused as Salesforce refuses it", async (soql, errorCode, message) => {
  const org = await openOrg();

  const answer = await org.query(soql);

  expect([answer.status, answer.json]).toEqual([400, [{ errorCode, message }]]);
});
