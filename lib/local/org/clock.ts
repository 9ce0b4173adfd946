/** The org's only source of time; a test replaces it to move through days in an instant. */
export interface Clock {
  now(): Date;
  /** Resolves once the given time has passed on this clock. */
  sleep(milliseconds: number): Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/** Salesforce's stamps have second precision: `2026-02-03T04:05:06.000Z` is how they are stored (salesforce-facts 9). */
export function stampOf(moment: Date): string {
  return new Date(Math.floor(moment.getTime() / 1000) * 1000).toISOString();
}
