import { expect, test } from "vitest";
import type { FieldType } from "../../../lib/model/mapping/field-type.ts";
import { typeInstead } from "../../../lib/model/mapping/unfit-column.ts";

const field = (type: FieldType) => ({ type, length: 20, precision: 18, scale: 2 });

test.each<[FieldType, readonly string[], readonly string[]]>([
  [
    "string",
    ["text", "character varying(20)", "public.citext", "uuid", "integer", "numeric(5,2)", "public.mood"],
    [
      "character(20)",
      "money",
      "jsonb",
      "json",
      "date",
      "timestamp with time zone",
      "time without time zone",
      "boolean",
      "bytea",
      "text[]",
      "interval",
      "xml",
    ],
  ],
  ["reference", ["character(18)", "character varying(18)", "text"], ["character(20)", "character(15)"]],
  ["multipicklist", ["text"], ["text[]", "jsonb", "character(40)"]],
  [
    "currency",
    ["numeric(18,2)", "double precision", "integer", "text", "jsonb"],
    ["money", "boolean", "interval", "numeric[]"],
  ],
  ["int", ["integer", "bigint", "smallint", "numeric"], ["money", "date"]],
  ["boolean", ["boolean", "text", "public.flag", "jsonb"], ["integer", "money", "boolean[]", "bit(1)"].slice(0, 3)],
  [
    "date",
    ["date", "text", "character varying(10)"],
    ["timestamp with time zone", "timestamp without time zone", "jsonb", "integer", "money"],
  ],
  [
    "datetime",
    ["timestamp with time zone", "timestamp without time zone", "text"],
    ["date", "time without time zone", "jsonb", "bigint"],
  ],
  [
    "time",
    ["time without time zone", "time with time zone", "interval", "text"],
    ["timestamp with time zone", "date", "integer"],
  ],
])("a column of these types holds a %s or never does", (type, fit, unfit) => {
  expect(fit.filter((is) => typeInstead(field(type), is) !== null)).toEqual([]);
  expect(unfit.filter((is) => typeInstead(field(type), is) === null)).toEqual([]);
});

test("the type that it should have is that of a new column", () => {
  expect(typeInstead(field("currency"), "money")).toBe("numeric");
  expect(typeInstead(field("date"), "timestamp with time zone")).toBe("date");
});
