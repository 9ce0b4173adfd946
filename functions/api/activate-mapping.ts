import { onLambda } from "../invocation/on-lambda.ts";
import { switchEndpoint } from "../switch-endpoint.ts";

/** Begins a mapping, or goes on with it. */
export const handler = onLambda(
  switchEndpoint("activate", "Begins a mapping, or goes on with it; what changed meanwhile is pulled first."),
);
