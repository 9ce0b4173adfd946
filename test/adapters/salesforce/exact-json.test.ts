import fc from "fast-check";
import { expect, test } from "vitest";
import { parseExactly } from "../../../lib/adapters/salesforce/exact-json.ts";

test("numbers keep every digit that was written", () => {
  const text = '{"a":12345678901234567.89,"b":[0.1000,-1e-7],"c":{"12":"34"}}';

  expect(parseExactly(text)).toEqual({ a: "12345678901234567.89", b: ["0.1000", "-1e-7"], c: { "12": "34" } });
});

test("everything but numbers is as JSON has it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const digits = (one: unknown): unknown => {
        if (typeof one === "number") return JSON.stringify(one);
        if (Array.isArray(one)) return one.map(digits);
        if (typeof one !== "object" || one === null) return one;
        return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, digits(inner)]));
      };

      expect(parseExactly(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(digits(value))));
    }),
  );
});
