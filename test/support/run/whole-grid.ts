import { test } from "vitest";

/**
 * The long tier runs some files of the gate a second time: with every case of their grids, and with as many rows as the
 * product needs. A `*.long.test.ts` beside such a file sets WHOLE_GRID and imports it.
 */
export const isWholeGrid = process.env["WHOLE_GRID"] !== undefined;

/** A test that takes seconds: the gate leaves it to the long tier. */
export const longTest = test.runIf(isWholeGrid);

/** Cases of which the gate takes the first ones, as many as said. */
export const firstInGate = <Case>(many: number, cases: readonly Case[]): readonly Case[] =>
  isWholeGrid ? cases : cases.slice(0, many);
