import { expect, test } from "vitest";
import type { FieldType } from "../../../lib/model/mapping/field-type.ts";
import { typeInstead } from "../../../lib/model/mapping/unfit-column.ts";

const field = (type: FieldType) => ({ type, length: 20, precision: 18, scale: 2 });

const TZ = "timestamp with time zone";

test.each<[FieldType, readonly string[], readonly string[]]>([
  [
    "string",
    ["text", "character varying(20)", "public.citext", "uuid", "numeric(5,2)"],
    ["character(20)", "jsonb", TZ, "boolean", "text[]"],
  ],
  ["reference", ["character(18)", "text"], ["character(20)", "character(15)"]],
  ["multipicklist", ["text"], ["text[]", "jsonb", "character(40)"]],
  ["currency", ["numeric(18,2)", "double precision", "text", "jsonb"], ["money", "boolean", "interval", "numeric[]"]],
  ["int", ["integer", "bigint", "smallint", "numeric"], ["money", "date"]],
  ["boolean", ["boolean", "text", "public.flag", "jsonb"], ["integer", "money", "boolean[]"]],
  ["date", ["date", "text", "character varying(10)"], [TZ, "jsonb", "integer"]],
  ["datetime", [TZ, "timestamp without time zone", "text"], ["date", "time without time zone", "bigint"]],
  ["time", ["time without time zone", "interval", "text"], [TZ, "date", "integer"]],
])("a column of these types holds a %s or never does", (type, fit, unfit) => {
  expect(fit.filter((is) => typeInstead(field(type), is) !== null)).toEqual([]);
  expect(unfit.filter((is) => typeInstead(field(type), is) === null)).toEqual([]);
});

test("the type that it should have is that of a new column", () => {
  expect(typeInstead(field("currency"), "money")).toBe("numeric");
  expect(typeInstead(field("date"), "timestamp with time zone")).toBe("date");
});
