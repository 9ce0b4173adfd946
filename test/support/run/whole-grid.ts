import { test } from "vitest";

/**
 * The long tier runs the files that import this module a second time: with every case of their grids, and with as many
 * rows as the product needs.
 */
export const isWholeGrid = process.env["WHOLE_GRID"] !== undefined;

/** A test that takes seconds: the gate leaves it to the long tier. */
export const longTest = test.runIf(isWholeGrid);

/** Cases of which the gate takes the first ones, as many as said. */
export const firstInGate = <Case>(many: number, cases: readonly Case[]): readonly Case[] =>
  isWholeGrid ? cases : cases.slice(0, many);
