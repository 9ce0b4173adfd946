import type { Mapping } from "./mapping.ts";

/** The indexes that an imported mapping asks for, as Heroku Connect's exports do: fields in lower case, and whether unique. */
export function askedIndexes({ foreign }: Pick<Mapping, "foreign">): ReadonlyMap<string, boolean> {
  const given = foreign["indexes"];
  const entries: [string, unknown][] = typeof given === "object" && given !== null ? Object.entries(given) : [];
  return new Map(entries.map(([field, index]) => [field.toLowerCase(), isUnique(index)]));
}

const isUnique = (index: unknown): boolean =>
  typeof index === "object" && index !== null && "unique" in index && index.unique === true;
