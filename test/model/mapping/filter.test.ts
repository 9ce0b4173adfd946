import { parseQuery } from "@jetstreamapp/soql-parser-js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Failure } from "../../../lib/model/failure.ts";
import type { DescribedField } from "../../../lib/model/mapping/describe.ts";
import { parseFilter, renderFilter } from "../../../lib/model/mapping/filter.ts";
import { describedField } from "../../support/worlds/described-field.ts";

const field = (name: string, type = "string", filterable = true): [string, DescribedField] => [
  name.toLowerCase(),
  describedField(name, { type, filterable }),
];
const FIELDS = new Map([
  field("Email"),
  field("Amount", "currency"),
  field("Kind__c", "multipicklist"),
  field("CloseDate", "date"),
  field("CreatedDate", "datetime"),
  field("Active__c", "boolean"),
  field("Notes", "textarea", false),
]);

const rendered = (text: string) => renderFilter(parseFilter(text), FIELDS);

test.each([
  ["email = 'a@b.c'", "Email = 'a@b.c'"],
  ["Amount > 10 and Email != null", "(Amount > 10 AND Email != NULL)"],
  ["Amount > 10 AND Email != NULL OR Amount = -1.5", "((Amount > 10 AND Email != NULL) OR Amount = -1.5)"],
  ["NOT (Email LIKE '%@b.c' OR Amount < 1)", "(NOT (Email LIKE '%@b.c' OR Amount < 1))"],
  ["Kind__c not  in ('a', 'it\\'s', 'c')", "Kind__c NOT IN ('a', 'it\\'s', 'c')"],
  ["Kind__c includes ('a;b')", "Kind__c INCLUDES ('a;b')"],
  ["CloseDate >= 2026-02-03 AND CloseDate < LAST_N_DAYS:7", "(CloseDate >= 2026-02-03 AND CloseDate < LAST_N_DAYS:7)"],
  [
    "createddate > 2026-02-03T00:00:00Z and active__c = true",
    "(CreatedDate > 2026-02-03T00:00:00Z AND Active__c = TRUE)",
  ],
])("%s is written as %s", (text, expected) => {
  expect(rendered(text)).toBe(expected);
  expect(() => parseQuery(`SELECT Id FROM X WHERE ${expected}`)).not.toThrow();
});

describe("a filter that is not understood is refused with the place", () => {
  test.each([
    ["", "at character 1"],
    ["Email = 'a' OR", "a field"],
    ["Email = 'a') OR (Id != NULL", 'says ")'],
    ["Email = 'a' ORDER BY Email", "AND, OR or the end"],
    ["Email = 'a\\", "a value"],
    ["Account.Name = 'a'", "an operator"],
    [`${"(".repeat(30)}Amount = 1${")".repeat(30)}`, "nested"],
    [`${"NOT ".repeat(900)}Amount = 1`, "nested"],
    ["Email = 'a\u0000'", "a value"],
    ["Gone__c = 1", "there is no field Gone__c"],
    ["Notes = 'a'", "Notes cannot be filtered by"],
    ["CloseDate = 2026-02-29", "there is no day 2026-02-29"],
    ["CreatedDate > 2026-02-30T00:00:00Z", "there is no day 2026-02-30"],
    ["CreatedDate > 2026-02-03T25:00:00Z", 'says "T25:00:00Z"'],
  ])("%s", (text, reason) => {
    expect(() => rendered(text)).toThrow(reason);
  });
});

test.each([
  ["Amount = '10'", "Amount is of type currency and is compared with a number, as 100, not with '10'"],
  ["Email = 10", "with a text in single quotes, as 'Sales', not with 10"],
  ["CreatedDate > 2026-02-03", "with a time with its zone, as 2026-02-03T00:00:00Z or TODAY, not with 2026-02-03"],
  ["CloseDate = TRUE", "with a date, as 2026-02-03 or TODAY, not with TRUE"],
  ["Active__c = 1", "with TRUE or FALSE, as TRUE, not with 1"],
  ["Amount LIKE '1%'", "which LIKE does not compare; use = or IN"],
  ["Email INCLUDES ('a')", "which INCLUDES does not compare; use IN or NOT IN"],
])("%s, which Salesforce would refuse in every cycle, is refused with the remedy", (text, reason) => {
  expect(() => rendered(text)).toThrow(reason);
});

test("whatever is written, what comes out is nothing but a condition, or a refusal", () => {
  const piece = fc.constantFrom(
    ...["Email", "Amount", "=", "!=", "'a'", "'", "\\", "(", ")", "AND", "OR", "NOT", "IN", ",", "1", "FROM"],
  );

  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      let soql: string;
      try {
        soql = rendered(pieces.join(" "));
      } catch (error) {
        expect(error).toBeInstanceOf(Failure);
        return;
      }
      const query = parseQuery(`SELECT Id FROM X WHERE (${soql}) ORDER BY Id`);
      expect(query).toMatchObject({ sObject: "X", orderBy: [{ field: "Id" }] });
    }),
    { numRuns: 2_000 },
  );
});
