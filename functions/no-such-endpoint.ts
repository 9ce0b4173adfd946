import { refusingLambda } from "../lib/http/lambda.ts";
import { now, rateLimits, requestsPerMinute } from "./services/composition.ts";

/** Answers every path and method without an endpoint: 404, or 405 with `Allow`. */
export const handler = refusingLambda(() => ({
  rateLimits: rateLimits(),
  requestsPerMinute: requestsPerMinute(),
  now,
}));
