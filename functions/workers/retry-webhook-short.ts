import { makeAttempts } from "../invocation/run-deliveries.ts";

/** Makes first retries, 30 seconds after a failure. */
export const handler = makeAttempts("quick");
