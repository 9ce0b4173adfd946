import { switchEndpoint } from "../switch-endpoint.ts";

export const handler = switchEndpoint(
  "delete",
  "Ends a mapping. Its table and rows stay, its triggers go; it can be restored.",
);
