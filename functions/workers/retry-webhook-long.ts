import { makeAttempts } from "../invocation/run-deliveries.ts";

/** Makes third and fourth retries, 30 minutes and 2 hours after a failure, which they wait for in hops. */
export const handler = makeAttempts("quick");
