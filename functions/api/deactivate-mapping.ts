import { onLambda } from "../invocation/on-lambda.ts";
import { switchEndpoint } from "../switch-endpoint.ts";

/** Pauses a mapping; capture stays on. */
export const handler = onLambda(
  switchEndpoint("deactivate", "Pauses a mapping: its running cycle ends, changes of its rows are still captured."),
);
