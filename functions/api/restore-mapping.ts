import { onLambda } from "../invocation/on-lambda.ts";
import { switchEndpoint } from "../switch-endpoint.ts";

/** Takes a deleted mapping up again, paused. */
export const handler = onLambda(
  switchEndpoint("restore", "Takes a deleted mapping up again, paused. Activating it reconciles its rows."),
);
