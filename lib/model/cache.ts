/** How long a cache keeps an entry, and how many. */
interface Limits<Value> {
  /** Time to live; left out: an entry lives as long as the process, or until `max` newer ones push it out. */
  readonly ttl?: { readonly milliseconds: number; readonly now: () => Date };
  readonly max?: number;
  /** Whether a value that was read is cached. */
  readonly keeps?: (value: Value) => boolean;
}

/** Gives the cached value of a key, or what `read` gives. */
export type Cache<Value> = (key: string, read: () => Promise<Value>) => Promise<Value>;

/**
 * A cache of one process. Callers that miss at once share one read; a read that fails is not cached. When the clock is
 * set back, what was read later than now is read again.
 */
export function createCache<Value>({ ttl, max = 1000, keeps = () => true }: Limits<Value>): Cache<Value> {
  const entries = new Map<string, { readonly value: Promise<Value>; readonly until: number }>();
  const lives = ttl?.milliseconds ?? Number.POSITIVE_INFINITY;
  return (key, read) => {
    const now = ttl?.now().getTime() ?? 0;
    const cached = entries.get(key);
    if (cached && cached.until > now && cached.until <= now + lives) return cached.value;
    const value = read();
    const forget = () => entries.get(key)?.value === value && entries.delete(key);
    value.then((found) => keeps(found) || forget(), forget);
    entries.delete(key);
    entries.set(key, { value, until: now + lives });
    // The oldest come first: all entries of a cache live equally long.
    for (const [oldest, { until }] of entries) {
      if (until > now && entries.size <= max) break;
      entries.delete(oldest);
    }
    return value;
  };
}
