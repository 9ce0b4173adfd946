import type { Dice } from "../../../support/doubles/dice.ts";

/** How far apart the two writes may be, milliseconds: most of them, and the others. */
const MOST = 300;
const OTHERS = 1000;
const OTHERS_SHARE = 0.25;

/** Milliseconds from the row's write to the record's. */
export const offsetOf = (dice: Dice): number => (2 * dice.roll() - 1) * (dice.isUnder(OTHERS_SHARE) ? OTHERS : MOST);

/** The share of offsets below so many milliseconds. */
export const shareBelow = (milliseconds: number): number =>
  OTHERS_SHARE * below(milliseconds, OTHERS) + (1 - OTHERS_SHARE) * below(milliseconds, MOST);

const below = (milliseconds: number, most: number) => Math.min(1, Math.max(0, (milliseconds + most) / (2 * most)));
