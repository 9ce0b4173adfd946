/** Something that can be found: a place to go to, or an act. */
export interface Entry {
  readonly name: string;
  /** What is said beside the name. */
  readonly aside?: string;
  readonly href?: string;
  readonly onChoose?: () => void;
  /** Why it can't be chosen. */
  readonly refused?: string | null;
}

/** Pages that the menu does not name. */
export const PAGES = [
  { name: "New mapping", path: "/mappings/new" },
  { name: "Failed changes", path: "/activity/failed" },
  { name: "Records not written here", path: "/activity/inbound" },
  { name: "Conflicts", path: "/activity/conflicts" },
  { name: "Import a configuration", path: "/configuration/import" },
  { name: "Drift from the baseline", path: "/configuration/drift" },
  { name: "New webhook", path: "/webhooks/new" },
] as const;

/** Entries of a group at a time, so that each group is seen. */
const MOST = 6;

/** The entries that hold each word of the text, those that begin with it first. */
export function matching(entries: readonly Entry[], text: string): readonly Entry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/);
  const rank = ({ name }: Entry) => (name.toLowerCase().startsWith(wanted) ? 0 : 1);
  return entries
    .filter(({ name, aside = "" }) => words.every((word) => `${name} ${aside}`.toLowerCase().includes(word)))
    .toSorted((one, other) => rank(one) - rank(other))
    .slice(0, MOST);
}

/** Whether a text is rather the key of a row than a part of its values: one word with a digit, and no e-mail address. */
export const isKey = (text: string): boolean => /\d/.test(text) && !/[\s@]/.test(text.trim());

interface Table {
  readonly pg_table: string;
}

/** The rows that a text can name: each table has one of a number. */
export function rowsOfKey(text: string, tables: readonly Table[]): readonly Entry[] {
  const key = text.trim();
  const href = (table: string) => `#/rows/${encodeURIComponent(table)}?${new URLSearchParams({ key })}`;
  if (!/^\d+$/.test(key)) return [{ name: `Row ${key}`, aside: "by record id, key or upsert value", href: href("-") }];
  return tables.map(({ pg_table: aside }) => ({ name: `Row ${key}`, aside, href: href(aside) }));
}
