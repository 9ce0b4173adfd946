import * as z from "zod/mini";
import type { Workspace } from "../model/workspace.ts";
import { placeOf } from "./connect-postgres.ts";
import type { Connected } from "./connect-salesforce.ts";

/** What a workspace is connected to; secrets are never shown. */
export const connectionsView = z.object({
  postgres: z.nullable(
    z.object({ host: z.string(), port: z.int(), database: z.string(), user: z.string(), schema: z.string() }),
  ),
  salesforce: z.nullable(
    z.object({
      login_url: z.string(),
      instance_url: z.string(),
      organization_id: z.string(),
      user_id: z.string(),
      api_version: z.string(),
      flow: z.enum(["refresh_token", "password", "client_credentials", "jwt_bearer"]),
    }),
  ),
});

/** The same, from the workspace. */
export function viewConnections({ postgres, salesforce }: Workspace): z.infer<typeof connectionsView> {
  return {
    postgres: postgres && placeOf(postgres),
    salesforce: salesforce && {
      login_url: salesforce.loginUrl,
      instance_url: salesforce.instanceUrl,
      organization_id: salesforce.organizationId,
      user_id: salesforce.userId,
      api_version: salesforce.apiVersion,
      flow: salesforce.credentials.kind,
    },
  };
}

/** An org right after it was connected. */
export const connectedView = z.object({
  organization_id: z.string(),
  instance_url: z.string(),
  username: z.string(),
  api_version: z.string(),
});

/** The same, from what the room says. */
export function viewConnected(connected: Connected): z.infer<typeof connectedView> {
  const { organizationId, instanceUrl, username, apiVersion } = connected;
  return { organization_id: organizationId, instance_url: instanceUrl, username, api_version: apiVersion };
}
