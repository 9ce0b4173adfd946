import type { JsonArray } from "./json-array.ts";

/** Which part of a list. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

/** A part of a list, and how many rows there are in all. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** The same, with the rows written as the contract shows them (spec 2.4). */
export interface WrittenPage {
  readonly rows: JsonArray;
  readonly total: number;
}
