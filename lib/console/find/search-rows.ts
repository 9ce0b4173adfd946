import type { Entry } from "./entries.ts";

/** Each is a request and a query of the customer's database; more would take too long. */
const MOST_MAPPINGS = 8;

/** What a search has found so far, and the objects of the mappings that it did not search. */
export interface SearchedRows {
  readonly found: readonly Entry[];
  readonly notSearched: readonly string[];
}

interface Searched {
  readonly sf_object: string;
}

/** The last request, maybe of a search that was given up: its query still holds a connection of the database. */
let lastRequest: Promise<unknown> = Promise.resolve();

/**
 * Searches the first mappings, one after the other. A mapping whose search fails counts as not searched. A search whose
 * signal aborts rejects with the signal's reason before its next request.
 */
export async function searchRows<Mapping extends Searched>(
  mappings: readonly Mapping[],
  search: (mapping: Mapping) => Promise<readonly Entry[]>,
  { signal, onFound }: { readonly signal: AbortSignal; readonly onFound: (soFar: SearchedRows) => void },
): Promise<SearchedRows> {
  const beyond = mappings.slice(MOST_MAPPINGS).map(({ sf_object }) => sf_object);
  const failed: string[] = [];
  const found: Entry[] = [];
  const soFar = () => ({ found: [...found], notSearched: [...failed, ...beyond] });
  for (const mapping of mappings.slice(0, MOST_MAPPINGS)) {
    await lastRequest;
    signal.throwIfAborted();
    const request = search(mapping).catch(() => null);
    lastRequest = request;
    const entries = await request;
    signal.throwIfAborted();
    if (entries) found.push(...entries);
    else failed.push(mapping.sf_object);
    onFound(soFar());
  }
  return soFar();
}

/** Objects that are named at a time. */
const MOST_NAMES = 5;

/** A line of the list that names what was not searched; it can't be chosen. */
export function notSearchedEntry(objects: readonly string[]): readonly Entry[] {
  if (objects.length === 0) return [];
  const others = objects.length - MOST_NAMES;
  const names = objects.slice(0, MOST_NAMES).join(", ");
  const refused = `Only the first ${MOST_MAPPINGS} mappings are searched, each for at most 5 s. Search the others on their own pages, under Rows.`;
  return [{ name: `Not searched: ${names}${others > 0 ? ` and ${others} more` : ""}`, refused }];
}
