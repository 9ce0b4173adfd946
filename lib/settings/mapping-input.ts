import * as z from "zod/mini";
import { filterText, MAX_FIELDS } from "../config/document.ts";
import { apiNameProblem, fieldNameProblem, tableNameProblem } from "../config/identifiers.ts";
import type { Settings } from "../config/save-mapping.ts";
import { CAPTURE_MODES, CONFLICT_POLICIES, SYNC_DIRECTIONS } from "../model/mapping/mapping.ts";
import { body, word } from "./shapes.ts";

const named = (problem: (name: string) => string | null) =>
  z.string({ error: "must be a text" }).check((context) => {
    const message = problem(context.value);
    if (message !== null) context.issues.push({ code: "custom", input: context.value, message });
  });

const apiName = () => named(apiNameProblem);

const fieldNames = () =>
  z
    .array(named(fieldNameProblem), { error: "must be a list of field names" })
    .check(
      z.minLength(1, { error: "must name at least one field" }),
      z.maxLength(MAX_FIELDS, { error: `must name at most ${MAX_FIELDS} fields` }),
      z.refine(isUnique, { error: "must name each field once, for case does not count" }),
    );

const settings = {
  sync_direction: z.optional(word(SYNC_DIRECTIONS)),
  sf_polling_seconds: z.optional(
    z
      .int({ error: "must be a whole number of seconds" })
      .check(z.gte(10, { error: "must be at least 10" }), z.lte(86_400, { error: "must be at most 86400" })),
  ),
  upsert_field: z.optional(z.nullable(apiName())),
  conflict_policy: z.optional(word(CONFLICT_POLICIES)),
  capture: z.optional(word(CAPTURE_MODES)),
  filter: z.optional(filterText()),
};

/** What a person says of a new mapping. */
export const newMappingBody = body({
  sf_object: apiName(),
  pg_table: z.optional(named(tableNameProblem)),
  active: z.optional(z.boolean({ error: "must be true or false" })),
  fields: fieldNames(),
  ...settings,
});

/** What a person may change of one. */
export const mappingChangesBody = body({ fields: z.optional(fieldNames()), ...settings });

/** The same in the room's words. */
export function settingsOf(given: z.infer<typeof mappingChangesBody>): Settings {
  return {
    fields: given.fields,
    syncDirection: given.sync_direction,
    pollingSeconds: given.sf_polling_seconds,
    upsertField: given.upsert_field,
    conflictPolicy: given.conflict_policy,
    capture: given.capture,
    filter: given.filter,
  };
}

function isUnique(names: readonly string[]): boolean {
  return new Set(names.map((name) => name.toLowerCase())).size === names.length;
}
