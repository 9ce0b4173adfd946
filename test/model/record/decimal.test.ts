import { expect, test } from "vitest";
import { isSameNumber, plainNumber } from "../../../lib/model/record/decimal.ts";

test.each([
  ["5.0", "5"],
  ["0.0", "0"],
  ["-0.0", "0"],
  ["100.50", "100.5"],
  ["9.9213206E7", "99213206"],
  ["1.6147805824397E13", "16147805824397"],
  ["9.0E7", "90000000"],
  ["1.0E18", "1000000000000000000"],
  ["-2.5E-4", "-0.00025"],
  ["1.5E-10", "0.00000000015"],
  ["007.10", "7.1"],
  ["0.1", "0.1"],
  ["123456789012345678.90", "123456789012345678.9"],
  ["42", "42"],
  ["NaN", "NaN"],
  ["much", "much"],
])("%s is %s in plain digits", (text, expected) => {
  expect(plainNumber(text)).toBe(expected);
});

test.each<[string, string, boolean]>([
  ["1.235", "1.239", false],
  ["1.24", "1.239", false],
  ["90.678", "90.68", false],
  ["5", "5.0", true],
  ["3.5E8", "350000000.00", true],
  ["-3.5", "3.5", false],
  ["999999999999999999", "1.0E18", true],
  ["0.12345678901234567890", "0.12345678901234568", true],
  ["123456789012345", "123456789012346", false],
  ["0.000000000000000123", "0.000000000000000124", false],
])("whether %s and %s are one number for Salesforce: %s", (one, other, expected) => {
  expect(isSameNumber(one, other)).toBe(expected);
});
