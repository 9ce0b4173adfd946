import type { ParentKey } from "../mapping/parent-key.ts";
import type { ColumnValues } from "../mapping/shape.ts";
import type { CsvLine } from "./csv-line.ts";

/** One record as Salesforce showed it. */
export interface Image {
  readonly sfid: string;
  readonly systemModstamp: Date;
  readonly isDeleted: boolean;
  /** The id of the record that it was merged into; null: none; left out: that was not asked. */
  readonly mergedInto?: string | null;
  /** By column name, in the text form that the column's type reads; empty when only the deletion is known. */
  readonly values: ColumnValues;
  /** The line of CSV that it came as, whose values are those above. */
  readonly line?: CsvLine;
}

/** A record of which only the deletion is known, at its time. */
export const deletedImage = ({ sfid, systemModstamp }: Pick<Image, "sfid" | "systemModstamp">): Image => ({
  sfid,
  systemModstamp,
  isDeleted: true,
  values: {},
});

/** What can be asked of Salesforce for many records at once. */
export const OPERATIONS = ["create", "update", "upsert", "delete", "undelete"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** One record to write. `values` by API field name, in Salesforce's text form; null clears. */
export interface OutgoingRecord {
  readonly id: string | null;
  readonly values: Readonly<Record<string, string | null>>;
  /** Parents named by their external ids instead of by the value of a lookup. */
  readonly parents?: readonly OutgoingParent[];
}

export interface OutgoingParent extends ParentKey {
  /** Of the external id. */
  readonly value: string;
}

/** What Salesforce said about one record of a write. */
export interface RecordResult {
  readonly id: string | null;
  readonly success: boolean;
  readonly created: boolean;
  readonly errors: readonly RecordError[];
}

export interface RecordError {
  /** `FIELD_CUSTOM_VALIDATION_EXCEPTION`. */
  readonly code: string;
  readonly message: string;
  readonly fields: readonly string[];
}
