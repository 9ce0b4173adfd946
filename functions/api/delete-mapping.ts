import { onLambda } from "../invocation/on-lambda.ts";
import { switchEndpoint } from "../switch-endpoint.ts";

/** Ends a mapping; its table and rows stay. */
export const handler = onLambda(
  switchEndpoint("delete", "Ends a mapping. Its table and rows stay, its triggers go; it can be restored."),
);
