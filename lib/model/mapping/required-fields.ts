import { type Mapping, pushes } from "./mapping.ts";
import { parentPathOf } from "./parent-key.ts";

interface Described {
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly createable: boolean;
    readonly nillable: boolean;
    readonly defaultedOnCreate: boolean;
    readonly relationshipName: string | null;
    readonly referenceTo: readonly string[];
  }[];
}

/** Fields without which Salesforce refuses a new record, and that a mapping which sends rows lacks. */
export function lackingFields(
  { syncDirection, fields, upsertField }: Pick<Mapping, "syncDirection" | "fields" | "upsertField">,
  object: Described,
): readonly string[] {
  if (!pushes(syncDirection)) return [];
  const given = [...fields, upsertField ?? ""].flatMap((name) => [
    name,
    parentPathOf(name, object.fields)?.lookup.name ?? name,
  ]);
  const mapped = new Set(given.map((name) => name.toLowerCase()));
  return object.fields
    .filter(({ createable, nillable, defaultedOnCreate }) => createable && !nillable && !defaultedOnCreate)
    .flatMap(({ name }) => (mapped.has(name.toLowerCase()) ? [] : [name]));
}

/** What a person is warned of. */
export const reportLacking = (lacking: readonly string[], sfObject: string) => ({
  message: `Salesforce will refuse rows that are inserted: ${sfObject} requires ${lacking.join(", ")}`,
  remedy: "add these fields to the mapping, or let it only read: sync_direction sf_to_pg",
});
