import { switchEndpoint } from "../switch-endpoint.ts";

export const handler = switchEndpoint(
  "restore",
  "Takes a deleted mapping up again, paused. Activating it reconciles its rows.",
);
