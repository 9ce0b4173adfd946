import { makeAttempts } from "../make-attempts.ts";

/** Makes first attempts, and those that somebody asked for. */
export const handler = makeAttempts("quick");
