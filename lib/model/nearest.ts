/** The known name that a misspelt one is nearest to, by its first 64 characters: no known one has more; undefined: there are none. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const begins = name.slice(0, 64);
  const [nearest] = known.map((one) => [distance(begins, one), one] as const).sort(([one], [other]) => one - other);
  return nearest?.[1];
}

/** The question to put behind a refusal, `; did you mean Name?`; nothing where no known name is near. */
export function didYouMean(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const isNear = meant !== undefined && distance(name.slice(0, 64), meant) <= Math.max(1, Math.floor(meant.length / 3));
  return isNear ? `; did you mean ${meant}?` : "";
}

/** Letters to insert, delete or replace to turn one name into the other, whatever their case (Levenshtein). */
function distance(from: string, to: string): number {
  const [one, other] = [from.toLowerCase(), to.toLowerCase()];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...one].entries()) {
    const line = [row + 1];
    for (const [at, wanted] of [...other].entries()) {
      const replaced = (above[at] ?? 0) + (letter === wanted ? 0 : 1);
      line.push(Math.min(replaced, (above[at + 1] ?? 0) + 1, (line[at] ?? 0) + 1));
    }
    above = line;
  }
  return above.at(-1) ?? 0;
}
