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
