export type Counts = Readonly<Record<string, number>>;

/** How often each name is there. */
export const countsOf = (names: readonly string[]): Counts =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));

/** Counts of several, name by name. */
export function sumOf(several: readonly Counts[]): Counts {
  const sum: Record<string, number> = {};
  for (const [name, count] of several.flatMap(Object.entries<number>)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** All of them together. */
export const totalOf = (counts: Counts): number => Object.values(counts).reduce((all, one) => all + one, 0);
