export type Dice = ReturnType<typeof createDice>;

/** Chance that a seed repeats (mulberry32). */
export function createDice(seed: number) {
  let state = seed >>> 0;
  /** In [0, 1). */
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A whole number from 0 to below `sides`. */
  const below = (sides: number) => Math.floor(roll() * sides);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[below(items.length)];
  return { roll, below, isUnder: (chance: number) => roll() < chance, pick };
}
