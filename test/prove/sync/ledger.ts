/** What one side's users did to one thing, told apart by its tag. The order in a list is the order in which it was done. */
export interface Deed {
  readonly table: string;
  readonly tag: string;
  readonly action: "insert" | "update" | "delete";
  /** What was written: tokens that no other deed has. */
  readonly values: Readonly<Record<string, string>>;
  /** Epoch milliseconds of the machine, when it was begun and when its end was known. */
  readonly begunAt: number;
  readonly endedAt: number;
  /** Whether it came to be is not known: the answer was lost. */
  readonly isSure: boolean;
}
