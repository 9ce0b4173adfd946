/** How the error of an insert with an unknown result begins. Only an operator's retry sends it again. */
export const IN_DOUBT = "IN_DOUBT";

/** A transaction that Salesforce has begun, and we have given up on, may commit for ten minutes; clocks may be two apart. */
const BEFORE_MILLISECONDS = 2 * 60_000;
const AFTER_MILLISECONDS = 13 * 60_000;

/** When records were created, by the org's clock, that inserts may have become which were sent between two times of ours. */
export function creationWindow(firstSentAt: Date, lastSentAt: Date): { readonly from: Date; readonly until: Date } {
  return {
    from: new Date(firstSentAt.getTime() - BEFORE_MILLISECONDS),
    until: new Date(lastSentAt.getTime() + AFTER_MILLISECONDS),
  };
}
