import { orgLogin as login } from "../../lib/adapters/salesforce/session/log-in.ts";
import { connections, hostGuard, mappings } from "./composition.ts";

/** What connecting an org takes: a login there, and where the connection is kept. */
export const loginServices = () => ({
  login,
  hostGuard: hostGuard(),
  connections: connections(),
  mappings: mappings(),
});
