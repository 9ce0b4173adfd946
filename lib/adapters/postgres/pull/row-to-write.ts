import type { ColumnValues } from "../../../model/mapping/shape.ts";
import type { Image } from "../../../model/record/record.ts";

/** A row as it must become. */
export interface RowToWrite {
  /** Null: a new row. */
  readonly key: number | null;
  readonly sfid: string;
  readonly stamp: Date;
  readonly values: ColumnValues;
  /** False: only listed, not written. */
  readonly isSure: boolean;
  /** Changes of it still wait, so it stays PENDING. */
  readonly waits: boolean;
}

/** The row that a record becomes. */
export function rowOf(
  { sfid, systemModstamp: stamp, values }: Image,
  more: Partial<RowToWrite> & { readonly key: number | null },
): RowToWrite {
  return { sfid, stamp, values, isSure: true, waits: false, ...more };
}
