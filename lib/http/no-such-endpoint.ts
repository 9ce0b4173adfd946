import type { RateLimits } from "../access/ports.ts";
import { countRequest } from "../access/rate-limit.ts";
import { Failure } from "../model/failure.ts";
import { type GatewayEvent, sourceAddress } from "./request.ts";
import { CONSOLE, ROUTES, type Route } from "./routes.ts";

interface Counting {
  readonly rateLimits: RateLimits;
  readonly requestsPerMinute: number;
}

/** Refuses what no row of the endpoint table answers: the method when the path has others, else the path. */
export async function refuseUnknown(
  { rateLimits, requestsPerMinute }: Counting,
  event: GatewayEvent,
  at: Date,
): Promise<never> {
  const headers = await countRequest(rateLimits, requestsPerMinute, sourceAddress(event), at);
  const allowed = methodsOf(event.resource ?? event.path ?? "");
  if (allowed.length === 0) throw new Failure("NOT_FOUND", "there is no such endpoint", { headers });
  const Allow = allowed.join(", ");
  throw new Failure("METHOD_NOT_ALLOWED", `this path answers to ${Allow} only`, { headers: { ...headers, Allow } });
}

const ANSWERED = [...Object.values<Route>(ROUTES), ...CONSOLE.paths.map((path) => ({ method: CONSOLE.method, path }))];

const PATTERNS = ANSWERED.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
}));

function methodsOf(path: string): readonly string[] {
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  return [...new Set(methods)].toSorted();
}
