import type { Image } from "../../model/record/record.ts";
import type { Lease } from "./lease-ports.ts";
import type { Comparison, Counts } from "./load-ports.ts";

/** What a sweep has found of some records: their sfids. */
export interface Compared {
  /** To be read again. */
  readonly differing: ReadonlySet<string>;
  /** Without a row of a key up to the last that the sweep compares. */
  readonly rowless: ReadonlySet<string>;
}

/** Rows in the order of their keys, after one and up to another. */
export interface RowSpan {
  readonly afterRow: number;
  /** Left out: to the end. */
  readonly lastRow?: number | undefined;
}

/** Rows as long work looks at them: it locks and changes none. */
export interface SweepStore {
  /** The key of the last row; 0: there is none. */
  lastRow(lease: Lease): Promise<number>;
  /** Compares records with their rows: the stamps, and where they are the same those values that the images have. */
  compareRows(lease: Lease, images: readonly Image[], lastRow: number): Promise<Compared>;
  /** Keeps what a sweep has found, for people. */
  /** `lastRow`: later rows came meanwhile. */
  keepComparison(lease: Lease, comparison: Comparison, lastRow?: number): Promise<void>;
  /** How many rows with an sfid there are by bucket, and the key of the last that was looked at; null: no row is left. */
  countRows(lease: Lease, span: RowSpan): Promise<{ readonly met: Counts; readonly looked: number | null }>;
  /** The sfids of the next rows, so many at most, of these buckets (null: all), and the key of the last that was looked at. */
  rowsAfter(
    lease: Lease,
    span: RowSpan & { readonly buckets: readonly string[] | null; readonly limit: number },
  ): Promise<{ readonly sfids: readonly string[]; readonly looked: number | null }>;
}
