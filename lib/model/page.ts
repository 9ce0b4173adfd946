import { Failure } from "./failure.ts";

/** Which part of a list. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
  /** Only rows that the list has after the one with this id. */
  readonly beforeId?: string | undefined;
}

/** A part of a list, and how many rows there are in all. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** The refusal of a `beforeId` that no row has: `list` is what has none of it. */
export function unknownCursor(list: string): Failure {
  const message = `${list} no such id, or no longer; begin again without it`;
  return new Failure("VALIDATION_ERROR", `before_id: ${message}`, { details: [{ path: "before_id", message }] });
}
