import type { Endpoint, OpenEndpoint } from "../../lib/http/endpoint.ts";
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

/** The Lambda handler of an endpoint behind a token, with the endpoint for the API's description. */
export function onLambda<const Name extends RouteName, Input = unknown, Resource = null>(
  endpoint: Endpoint<Name, Input, Resource>,
) {
  const gateOf = () => (endpoint.onlyReads ? { ...gate(), workspaces: cachedWorkspaces() } : gate());
  return Object.assign(lambda(endpoint, gateOf), { endpoint });
}

/** The Lambda handler of an endpoint without a token. */
export function onOpenLambda(endpoint: OpenEndpoint) {
  return Object.assign(openLambda(endpoint, now), { endpoint });
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
