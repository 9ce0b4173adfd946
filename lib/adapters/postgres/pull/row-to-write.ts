import type { ColumnValues } from "../../../model/mapping/shape.ts";
import type { Image } from "../../../model/record/record.ts";

/** A row as it is to be. */
export interface RowToWrite {
  /** Null: a new row. */
  readonly key: number | null;
  readonly sfid: string;
  readonly stamp: Date;
  readonly values: ColumnValues;
  /** False: only told apart, not written. */
  readonly isSure: boolean;
  /** Changes of it still wait, so it stays PENDING. */
  readonly waits: boolean;
}

/** The row that a record is to be. */
export function rowOf(
  { sfid, systemModstamp: stamp, values }: Image,
  more: Partial<RowToWrite> & { readonly key: number | null },
): RowToWrite {
  return { sfid, stamp, values, isSure: true, waits: false, ...more };
}
