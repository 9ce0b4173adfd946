import { makeAttempts } from "../invocation/run-deliveries.ts";

/** Sends first attempts, and manual ones. */
export const handler = makeAttempts("quick");
