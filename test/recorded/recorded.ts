import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OrgField, OrgObject } from "../../lib/config/org-ports.ts";

/** What a refusal has to say to the rest of the product. */
interface Refused {
  readonly kind: string;
  readonly code: string;
  readonly mayHaveRun: boolean;
  /** A piece of its message. */
  readonly says?: string;
  /** The kind that it must not be, where it passes with time. */
  readonly not?: string;
}

/** An answer of a real service, and what our client has to read in it. */
export interface Recorded {
  readonly name: string;
  /** Where it was published: `repository@commit:path`, a thread, or a page. */
  readonly source: string;
  /** The request that it answered. */
  readonly request: string;
  /** The call of ours that is answered so; null where we make no such request. */
  readonly ask: string | null;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body. `{org}` is where the address of the instance was. */
  readonly text: string;
  /** What was left out or replaced; `composed` begins the note of an answer of which only parts are published. */
  readonly note?: string;
  readonly refused?: Refused;
  readonly gives?: unknown;
  /** How many records a save must send for it, and of how many parts a composite. */
  readonly records?: number;
  readonly parts?: readonly unknown[];
  /** The results of a save. */
  readonly results?: readonly unknown[];
  /** Values of a file by column; `error` is what `sf__Error` has to mean. */
  readonly lines?: readonly (Readonly<Record<string, string>> & { readonly error?: object })[];
  /** A piece of what an operator is advised to do. */
  readonly remedy?: string;
  /** Calls used and allowed, by header or SOAP. */
  readonly usage?: readonly [used: number, limit: number];
}

/** The answers of one kind: a file in `answers`. */
export function recorded<Kind extends Pick<Recorded, "name" | "source"> = Recorded>(kind: string): readonly Kind[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, "answers", `${kind}.json`), "utf8")) as readonly Kind[];
}

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
