import type { Collision } from "./merge.ts";

/** A row that would meet its record for the first time, and the fields in which they differ. */
export interface Met {
  readonly sfid: string;
  /** Key of the row. */
  readonly recordId: number;
  readonly differences: readonly (Omit<Collision, "column" | "base" | "postgresAt"> & {
    readonly field: string;
    /** What the column has against Salesforce's value, so that the record does not come to its row; null: nothing. */
    readonly refused: string | null;
  })[];
}

/**
 * What a first load would find: how many rows of the table have a record of the same key, in which fields the two differ,
 * and what the conflict policy would make of it. It is read page by page and changes nothing. Times are ISO 8601.
 */
export interface DryRun {
  readonly id: string;
  /** Of the mapping that was compared; null: nothing was compared yet. */
  readonly definition: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Why the last attempt ended early; another one follows. */
  readonly error: string | null;
  /** Records that the org counted, and those that were read; the last of them. */
  readonly records: number | null;
  readonly read: number;
  readonly afterId: string | null;
  readonly matched: number;
  readonly differing: number;
  /** Records, and rows, that would get a value of the other side. */
  readonly toSalesforce: number;
  readonly toPostgres: number;
  /** Records that do not come to their rows, because a column cannot hold a value; versions up to 0.3 counted none. */
  readonly refused?: number;
  /** Rows that differ, by field. */
  readonly fields: Readonly<Record<string, number>>;
  readonly samples: readonly Met[];
  /** Of what was found, for the mapping as it was; null before the end. */
  readonly digest: string | null;
  /** The digest that an operator has last confirmed; null: none. */
  readonly confirmed: string | null;
}

/** A dry run before its first page. */
export const newDryRun = (id: string, at: Date): DryRun => ({
  id,
  definition: null,
  startedAt: at.toISOString(),
  endedAt: null,
  error: null,
  records: null,
  read: 0,
  afterId: null,
  matched: 0,
  differing: 0,
  toSalesforce: 0,
  toPostgres: 0,
  fields: {},
  samples: [],
  digest: null,
  confirmed: null,
});

/** A handful of rows to look at, of those that differ and of those that are refused, each with some of its fields. */
const SAMPLES = 5;
const SAMPLE_FIELDS = 20;

/** The run after one more page. */
export function afterPage(run: DryRun, met: readonly Met[]): DryRun {
  const differing = met.filter(({ differences }) => differences.length > 0);
  const isRefused = ({ differences }: Met) => differences.some(({ refused }) => refused !== null);
  const [refused, taken] = [differing.filter(isRefused), differing.filter((one) => !isRefused(one))];
  const wonBy = (side: Collision["winner"]) =>
    taken.filter(({ differences }) => differences.some(({ winner }) => winner === side)).length;
  const fields = new Map(Object.entries(run.fields));
  for (const { field } of differing.flatMap(({ differences }) => differences)) {
    fields.set(field, (fields.get(field) ?? 0) + 1);
  }
  const known = run.samples.filter(isRefused).length;
  const shown = [
    ...refused.slice(0, SAMPLES - known),
    ...taken.slice(0, Math.max(0, SAMPLES - run.samples.length + known)),
  ];
  return {
    ...run,
    matched: run.matched + met.length,
    differing: run.differing + differing.length,
    toSalesforce: run.toSalesforce + wonBy("postgres"),
    toPostgres: run.toPostgres + wonBy("salesforce"),
    refused: (run.refused ?? 0) + refused.length,
    fields: Object.fromEntries(fields),
    samples: [
      ...run.samples,
      ...shown.map((one) => ({ ...one, differences: one.differences.slice(0, SAMPLE_FIELDS) })),
    ],
  };
}
