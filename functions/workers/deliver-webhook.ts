import { makeAttempts } from "../invocation/run-deliveries.ts";

/** Makes first attempts, and those that somebody asked for. */
export const handler = makeAttempts("quick");
