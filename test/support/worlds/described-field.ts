import type { DescribedField } from "../../../lib/model/mapping/describe.ts";

/** A field as the org describes it: a text of 80 characters that any user may read, write and filter by, by default. */
export const describedField = (name: string, more: Partial<DescribedField> = {}): DescribedField => ({
  name,
  type: "string",
  length: 80,
  precision: 0,
  scale: 0,
  digits: 0,
  createable: true,
  updateable: true,
  nillable: true,
  defaultedOnCreate: false,
  filterable: true,
  externalId: false,
  idLookup: false,
  unique: true,
  referenceTo: [],
  relationshipName: null,
  ...more,
});
