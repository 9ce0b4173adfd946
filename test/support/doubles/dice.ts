/** Chance that a seed repeats (mulberry32). */
export interface Dice {
  /** In [0, 1). */
  roll(): number;
  /** A whole number from 0 to below `sides`. */
  below(sides: number): number;
  isUnder(chance: number): boolean;
  pick<Item>(items: readonly Item[]): Item | undefined;
}

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const roll = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (sides: number) => Math.floor(roll() * sides);
  return { roll, below, isUnder: (chance) => roll() < chance, pick: (items) => items[below(items.length)] };
}
