import { makeAttempts } from "../invocation/run-deliveries.ts";

/** Makes second retries, 5 minutes after a failure. */
export const handler = makeAttempts("quick");
