import { switchEndpoint } from "../switch-endpoint.ts";

export const handler = switchEndpoint(
  "deactivate",
  "Pauses a mapping: its running cycle ends, changes of its rows are still captured.",
);
