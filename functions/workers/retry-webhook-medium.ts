import { makeAttempts } from "../make-attempts.ts";

/** Makes second retries, 5 minutes after a failure. */
export const handler = makeAttempts("slow");
