import { describe, expect, test } from "vitest";
import { outgoingValue } from "../../../lib/model/change/outgoing.ts";
import { outgoingFields } from "../../../lib/model/change/outgoing-fields.ts";
import type { FieldType } from "../../../lib/model/mapping/field-type.ts";
import type { ColumnValues } from "../../../lib/model/mapping/shape.ts";
import { plainNumber } from "../../../lib/model/record/decimal.ts";
import { columnText } from "../../../lib/model/record/incoming.ts";
import { isSameValue } from "../../../lib/model/record/same-value.ts";
import { column, contactShape } from "../../support/worlds/shapes.ts";

const sent = (type: FieldType, text: string | null) => outgoingValue(column("F", { type }), text);

describe("a text of more characters than its field takes", () => {
  const shape = contactShape({
    columns: [
      column("Description", { type: "textarea", length: 10 }),
      column("Formula__c", { length: 10, createable: false, updateable: false }),
      column("Grown__c", { length: 10, outgrown: { length: 20, precision: 0, scale: 0 } }),
      column("Many__c", { type: "multipicklist", length: 10 }),
      column("Unknown__c", { length: 0 }),
      column("Master__c", { length: 10, updateable: false }),
    ],
  });
  const error = (values: ColumnValues) => outgoingFields(shape, values, true).error;

  test("is refused with the field's name and limit", () => {
    expect(error({ description: "x".repeat(11) })).toBe(
      "STRING_TOO_LONG: Description takes 10 characters, and this text has more; shorten it [Description]",
    );
    expect(error({ grown__c: "x".repeat(21) })).toMatch(/Grown__c takes 20 characters/);
    expect(error({ master__c: "x".repeat(11) })).toMatch(/Master__c takes 10 characters/);
  });

  test.each<[string, ColumnValues]>([
    ["fits", { description: "x".repeat(10), grown__c: "x".repeat(20) }],
    ["fits without space around it, and with a line break as one", { description: "\n  1\r\n3\r\n5\r\n7\r\n90 " }],
    ["fits with each character beyond U+FFFF as one", { description: "😀".repeat(10) }],
    ["is in a field that is not written", { formula__c: "x".repeat(11) }],
    ["is a list, whose parts count", { many__c: "x".repeat(11) }],
    ["is in a field of unknown length", { unknown__c: "x".repeat(1_000) }],
  ])("is sent where it %s", (_, values) => {
    expect(error(values)).toBeNull();
  });
});

describe("what Salesforce is sent", () => {
  test.each<[FieldType, string, string]>([
    ["datetime", "2026-02-03 04:05:06+00", "2026-02-03T04:05:06.000Z"],
    ["datetime", "2026-02-03T04:05:06.5+05:30", "2026-02-02T22:35:06.500Z"],
    ["datetime", "2026-02-03 04:05:06.123456-03", "2026-02-03T07:05:06.123Z"],
    ["boolean", "t", "true"],
    ["currency", "12345678901234567.89", "12345678901234567.89"],
    // Zones of before they were whole hours have seconds.
    ["datetime", "1890-01-01 00:00:00+00:53:28", "1889-12-31T23:06:32.000Z"],
    ["time", "13:30:00", "13:30:00.000Z"],
    ["time", "13:30:00.5", "13:30:00.500Z"],
    ["date", "2026-02-03", "2026-02-03"],
    ["textarea", 'a "quote", a\nline & 🎈', 'a "quote", a\nline & 🎈'],
  ])("a %s of %s is sent as %s, a time in UTC", (type, text, expected) => {
    expect(sent(type, text)).toEqual({ text: expected });
  });

  test.each<[FieldType, string]>([
    ["double", "NaN"],
    ["datetime", "infinity"],
    ["date", "0044-03-15 BC"],
    ["string", "half a pair \ud83d"],
  ])("a %s of %s is refused with its reason", (type, text) => {
    expect(sent(type, text)).toHaveProperty("reason");
  });

  test("NULL clears a field, but unticks a checkbox", () => {
    expect(sent("string", null)).toEqual({ text: null });
    expect(sent("string", "")).toEqual({ text: null });
    expect(sent("boolean", null)).toEqual({ text: "false" });
  });
});

test("a time loses its Z, which a time column cannot hold", () => {
  expect(columnText(column("F", { type: "time" }), "13:30:00.000Z")).toBe("13:30:00.000");
});

describe("whether Salesforce holds what was sent", () => {
  test.each<[FieldType, number, string | null, string | null, boolean]>([
    ["currency", 2, "1.235", "1.239", false],
    ["currency", 2, "90.678", "90.68", false],
    ["percent", 0, "-0.001", "0", false],
    ["double", 0, "12345678901234567", "12345678901234568", true],
    ["double", 0, "999999999999999999", "1.0E18", true],
    ["double", 0, "123456789012345", "123456789012346", false],
    ["double", 0, "0.000000000000000123", "0.000000000000000124", false],
    ["currency", 2, "3.5E8", "350000000.00", true],
    ["currency", 2, "-3.5", "3.5", false],
    ["double", 1, "5E-2", "0.050", true],
    ["double", 0, "1.2345678901234568E16", "12345678901234568", true],
    ["hologram" as FieldType, 0, "a\r\nb ", "a\nb", true], // a type that only a newer version knows
    ["string", 0, "Rose  ", "Rose", true],
    ["string", 0, "", null, true],
    ["string", 0, "Rose", null, false],
    ["multipicklist", 0, "B;A;B", "A;B", true],
    ["multipicklist", 0, "A;B", "A;C", false],
    ["picklist", 0, "B;A", "A;B", false],
    ["datetime", 0, "2026-02-03T04:05:06.123Z", "2026-02-03T04:05:06.000+0000", true],
    ["datetime", 0, "2026-02-03T04:05:06.000Z", "2026-02-03T04:05:07.000+0000", false],
    ["time", 0, "04:05:06", "04:05:07.000Z", false],
  ])("a %s of scale %i: %s and %s are one value: %s", (type, scale, one, other, expected) => {
    expect(isSameValue(column("F", { type, scale }), one, other)).toBe(expected);
  });
});

test.each([
  ["5.0", "5"],
  ["-0.0", "0"],
  ["100.50", "100.5"],
  ["9.9213206E7", "99213206"],
  ["1.0E18", "1000000000000000000"],
  ["-2.5E-4", "-0.00025"],
  ["007.10", "7.1"],
  ["123456789012345678.90", "123456789012345678.9"],
  ["NaN", "NaN"],
])("%s is %s in plain digits", (text, expected) => {
  expect(plainNumber(text)).toBe(expected);
});
