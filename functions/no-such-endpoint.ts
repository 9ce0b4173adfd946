import { refusingLambda } from "../lib/http/lambda.ts";
import { now, rateLimits, requestsPerMinute } from "./services/composition.ts";

/** Stands behind every path and method that no endpoint answers: 404, or 405 with `Allow`. */
export const handler = refusingLambda(() => ({
  rateLimits: rateLimits(),
  requestsPerMinute: requestsPerMinute(),
  now,
}));
