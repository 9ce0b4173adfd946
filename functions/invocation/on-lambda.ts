import type { Described, Endpoint, OpenEndpoint } from "../../lib/http/endpoint.ts";
import { type Gate, lambda, openLambda } from "../../lib/http/lambda.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import {
  cachedWorkspaces,
  now,
  pepper,
  rateLimits,
  repeats,
  requestsPerMinute,
  tokens,
  workspaces,
} from "../services/composition.ts";

/** The Lambda handler of an endpoint behind a token, with the endpoint for whoever describes it. */
export function onLambda<Name extends RouteName, Input, Services, Resource>(
  endpoint: Endpoint<Name, Input, Services, Resource>,
) {
  return describedBy(
    endpoint,
    lambda(endpoint, () => (endpoint.onlyReads ? { ...gate(), workspaces: cachedWorkspaces() } : gate())),
  );
}

/** The Lambda handler of an endpoint without a token. */
export function onOpenLambda<Services>(endpoint: OpenEndpoint<Services>) {
  return describedBy(endpoint, openLambda(endpoint, now));
}

function describedBy<Handler extends object>(endpoint: Described, handler: Handler): Handler & { endpoint: Described } {
  return Object.assign(handler, { endpoint });
}

function gate(): Gate {
  return {
    tokens: tokens(),
    pepper: pepper(),
    workspaces: workspaces(),
    rateLimits: rateLimits(),
    repeats: repeats(),
    requestsPerMinute: requestsPerMinute(),
    now,
  };
}
