import * as z from "zod/mini";
import { apiName, fieldName, MAX_FIELDS, mappingRules, switchable, tableName } from "../config/mapping-rules.ts";
import { body } from "./shapes.ts";

const fieldNames = () =>
  z
    .array(fieldName(), { error: "must be a list of field names" })
    .check(
      z.minLength(1, { error: "must name at least one field" }),
      z.maxLength(MAX_FIELDS, { error: `must name at most ${MAX_FIELDS} fields` }),
      z.refine(isUnique, { error: "must name each field once, for case does not count" }),
    );

/** What a person says of a new mapping. */
export const newMappingBody = body({
  sf_object: apiName(),
  pg_table: z.optional(tableName()),
  active: z.optional(switchable()),
  fields: fieldNames(),
  ...mappingRules,
});

/** What a person may change of one. */
export const mappingChangesBody = body({ fields: z.optional(fieldNames()), ...mappingRules });

function isUnique(names: readonly string[]): boolean {
  return new Set(names.map((name) => name.toLowerCase())).size === names.length;
}
