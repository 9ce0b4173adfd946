import type { OrgField, OrgObject } from "../../lib/config/org-ports.ts";
import type { Recorded } from "./recorded.ts";

/** A describe, trimmed to what the product reads, and the names of all that was in it. */
export interface RecordedDescribe extends Pick<Recorded, "name" | "source" | "request" | "note"> {
  readonly object: Omit<OrgObject, "fields">;
  readonly mergeable: boolean;
  /** `name;type;length;precision;scale;digits;flags;referenceTo;relationshipName`, flags by the letters below. */
  readonly fields: readonly string[];
  readonly keysOfObject: string;
  readonly keysOfField: string;
}

const FLAGS = {
  ...{ createable: "c", updateable: "u", nillable: "n", defaultedOnCreate: "d", calculated: "k" },
  ...{ unique: "q", filterable: "f", externalId: "x", idLookup: "i" },
} as const;

/** The describe in the form of the answer; a field's label is its name. */
export const describedBy = ({ object, fields }: RecordedDescribe): OrgObject => ({
  ...object,
  fields: fields.map(fieldOf),
});

function fieldOf(row: string): OrgField {
  const [name = "", type = "", length, precision, scale, digits, letters = "", to = "", relationship] = row.split(";");
  const flags = Object.entries(FLAGS).map(([flag, letter]) => [flag, letters.includes(letter)]);
  return {
    ...{ name, label: name, type, length: Number(length), precision: Number(precision) },
    ...{ scale: Number(scale), digits: Number(digits) },
    ...(Object.fromEntries(flags) as Record<keyof typeof FLAGS, boolean>),
    ...{ referenceTo: to === "" ? [] : to.split("|"), relationshipName: relationship || null },
  };
}
