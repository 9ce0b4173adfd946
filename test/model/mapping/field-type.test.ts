import { expect, expectTypeOf, test } from "vitest";
import type { FieldType as OrgFieldType } from "../../../lib/local/org/metadata/field-type.ts";
import { columnType } from "../../../lib/model/mapping/column-type.ts";
import { type FieldType, isMappable } from "../../../lib/model/mapping/field-type.ts";
import { isSameValue } from "../../../lib/model/record/same-value.ts";
import { column } from "../../support/worlds/shapes.ts";

const SIZE = { length: 40, precision: 0, scale: 0 };

test("the embedded org has fields of each type that a column can hold, but for long integers", () => {
  expectTypeOf<Exclude<FieldType, OrgFieldType>>().toEqualTypeOf<"long">();
});

test.each(["address", "base64", "constructor"])("no column can hold a field of type %s", (type) => {
  expect(isMappable(type)).toBe(false);
});

test("values of a type that only a newer version knows are texts", () => {
  const type = "hologram" as FieldType;

  expect(columnType({ type, ...SIZE })).toBe("varchar(40)");
  expect(isSameValue(column("F", { type }), "a\r\nb ", "a\nb")).toBe(true);
});
