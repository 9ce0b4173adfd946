import { expect, test } from "vitest";
import { ManualClock, openOrg } from "./support/open-org.ts";

const ACCOUNTS = [
  { Name: "Alpha", Industry: "Banking", AnnualRevenue: 10 },
  { Name: "beta", Industry: "Energy", AnnualRevenue: 20, BillingCity: "Köln" },
  { Name: "Gamma", AnnualRevenue: 30 },
];

test("WHERE finds what Salesforce finds", async () => {
  const org = await openOrg({ clock: new ManualClock() });
  for (const one of ACCOUNTS) await org.create("Account", one);

  for (const [where, names] of Object.entries({
    "Name = 'ALPHA'": ["Alpha"],
    "Name != 'alpha'": ["beta", "Gamma"],
    "Industry != 'Banking'": ["beta", "Gamma"],
    "Industry = null": ["Gamma"],
    "NOT Industry = 'Banking'": ["beta", "Gamma"],
    "Name LIKE '%A' AND AnnualRevenue >= 20": ["beta", "Gamma"],
    "(Name = 'alpha' OR Name = 'beta') AND AnnualRevenue > 10": ["beta"],
    "Industry IN ('banking', 'ENERGY')": ["Alpha", "beta"],
    "Industry NOT IN ('Banking')": ["beta", "Gamma"],
    "BillingCity = 'KÖLN'": ["beta"],
    "CreatedDate = TODAY": ["Alpha", "beta", "Gamma"],
    "CreatedDate < LAST_N_DAYS:3": [],
    "SystemModstamp = 2026-02-03T05:05:06+01:00": ["Alpha", "beta", "Gamma"],
    "Id IN (SELECT AccountId FROM Contact)": [],
  })) {
    const records = await org.records(`SELECT Name FROM Account WHERE ${where} ORDER BY Name`);
    expect(
      records.map((record) => record["Name"]),
      where,
    ).toEqual(names);
  }
});

test("parents, children, aggregates and counts come in Salesforce's shapes", async () => {
  const org = await openOrg();
  const AccountId = await org.create("Account", { Name: "Acme" });
  await org.create("Contact", { LastName: "Rose", AccountId });
  await org.create("Contact", { LastName: "Solo" });

  expect(await org.records("SELECT Account.Name, Account.Owner.Name FROM Contact ORDER BY LastName")).toMatchObject([
    { Account: { attributes: { type: "Account" }, Name: "Acme", Owner: { Name: "Ada Admin" } } },
    { Account: null },
  ]);
  expect(await org.records("SELECT Name, (SELECT LastName FROM Contacts) FROM Account")).toMatchObject([
    { Contacts: { totalSize: 1, done: true, records: [{ attributes: { type: "Contact" }, LastName: "Rose" }] } },
  ]);
  expect(
    await org.records(
      "SELECT AccountId, COUNT(Id), MAX(LastName) latest FROM Contact WHERE AccountId != null GROUP BY AccountId",
    ),
  ).toEqual([{ attributes: { type: "AggregateResult" }, AccountId, expr0: 1, latest: "Rose" }]);
  const { json } = await org.query("SELECT COUNT() FROM Contact");
  expect(json).toEqual({ totalSize: 2, done: true, records: [] });
});
