/** Answers from what was read before under this name, or reads. */
export type Cache = <Thing>(name: string, read: () => Promise<Thing>) => Promise<Thing>;

/** Keeps what was read for so long, calls that come meanwhile included; what rejects is forgotten. */
export function ttlCache(milliseconds: number, now: () => Date): Cache {
  const known = new Map<string, { readonly thing: Promise<unknown>; readonly until: number }>();
  return <Thing>(name: string, read: () => Promise<Thing>): Promise<Thing> => {
    const at = now().getTime();
    // A description can be half a megabyte: none is kept longer than it is of use.
    for (const [old, { until }] of known) if (until <= at) known.delete(old);
    const before = known.get(name);
    if (before) return before.thing as Promise<Thing>;
    const thing = read().catch((error: unknown) => {
      known.delete(name);
      throw error;
    });
    known.set(name, { thing, until: at + milliseconds });
    return thing;
  };
}
