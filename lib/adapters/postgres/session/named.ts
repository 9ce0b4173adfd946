import type { Values } from "./sql.ts";

/** Texts, names in quotes and comments stay; so do casts. */
const PARTS = /'[^']*'|"[^"]*"|--.*|(?<!:):([a-z]\w*)/g;

/**
 * A statement whose values have names, as PostgreSQL takes it: `:fence` is `$1` where it is the first name in the text.
 * Values that the text does not name are left out, so a part that is left out takes its values with it.
 */
export function named(text: string, values: Values): [text: string, values: readonly unknown[]] {
  if (Array.isArray(values)) return [text, values];
  const known = new Map(Object.entries(values));
  const names: string[] = [];
  const numbered = text.replace(PARTS, (part, name?: string) => {
    if (name === undefined) return part;
    if (!known.has(name)) throw new Error(`no value has the name :${name}`);
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return [numbered, names.map((name) => known.get(name))];
}
