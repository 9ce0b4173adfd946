/**
 * The long tier runs some files of the gate a second time: with every case of their grids, and with as many rows as the
 * product needs. A `*.long.test.ts` beside such a file sets WHOLE_GRID and imports it.
 */
export const isWholeGrid = process.env["WHOLE_GRID"] !== undefined;
