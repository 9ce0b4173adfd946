import { expect, expectTypeOf, test } from "vitest";
import type { FieldType as OrgFieldType } from "../../../lib/local/org/metadata/field-type.ts";
import { type FieldType, isMappable } from "../../../lib/model/mapping/field-type.ts";

test("the embedded org has fields of each type that a column can hold, but for long integers", () => {
  expectTypeOf<Exclude<FieldType, OrgFieldType>>().toEqualTypeOf<"long">();
  expect(["address", "base64", "constructor"].filter(isMappable)).toEqual([]);
});
