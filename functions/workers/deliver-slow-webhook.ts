import { makeAttempts } from "../invocation/run-deliveries.ts";

/** Sends the attempts for slow webhooks, of any number, by their slots. */
export const handler = makeAttempts("slow");
