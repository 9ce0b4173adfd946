/** Where calls are booked in `bridge_sf_api_calls_total{api}`. */
export const API_LABELS = ["REST", "SOAP", "BULK", "COMPOSITE"] as const;

/** Sums of a mapping's counts stay exact. */
const MOST_COUNTED = 1e15;

/** What a customer's database or an org gives for a count: whole, of 0 to 10^15; what is no number is 0. */
export function judgedCount(given: unknown): number {
  const count = typeof given === "object" ? 0 : Number(given);
  return count > 0 ? Math.min(Math.floor(count), MOST_COUNTED) : 0;
}

/** The same for calls by the label of their API; other labels are left out. */
export function judgedCalls(given: unknown): Readonly<Record<string, number>> {
  const calls = (given ?? {}) as Readonly<Record<string, unknown>>;
  return Object.fromEntries(API_LABELS.map((label) => [label, judgedCount(calls[label])]).filter(([, count]) => count));
}

/** One mapping's totals since its beginning in the customer's database (contract 4.2); they only rise. */
export interface MappingTotals {
  readonly workspaceId: string;
  readonly mappingId: string;
  readonly sfObject: string;
  readonly rowsSynced: number;
  readonly rowsFailed: number;
  /** Calls by the label of their API, `SOAP`. */
  readonly apiCalls: Readonly<Record<string, number>>;
}
