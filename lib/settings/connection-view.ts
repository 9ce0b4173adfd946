import * as z from "zod/mini";
import { type CamelCased, toSnakeCase } from "../model/snake-case.ts";
import { MOST_CONNECTIONS, RETENTION, SCHEMA_CHANGES, type Workspace } from "../model/workspace/workspace.ts";
import { placeOf } from "./connect-postgres.ts";

/** What a workspace is connected to; secrets are never shown. */
export const connectionsView = z.object({
  postgres: z.nullable(
    z.object({
      host: z.string(),
      port: z.int(),
      database: z.string(),
      user: z.string(),
      schema: z.string(),
      schema_changes: z.enum(SCHEMA_CHANGES),
      max_connections: z.int(),
      retention: z.object({ log_days: z.int(), conflict_days: z.int(), tombstone_days: z.int() }),
      log_autovacuum: z.nullable(z.record(z.string(), z.number())),
    }),
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
export const viewConnections = ({ postgres, salesforce }: Workspace): z.infer<typeof connectionsView> =>
  toSnakeCase(connectionsView, {
    postgres: postgres && {
      ...placeOf(postgres),
      schemaChanges: postgres.schemaChanges ?? "apply",
      maxConnections: postgres.maxConnections ?? MOST_CONNECTIONS,
      retention: { ...RETENTION, ...postgres.retention },
      logAutovacuum: postgres.logAutovacuum ?? null,
    },
    salesforce: salesforce && { ...salesforce, flow: salesforce.credentials.kind },
  });

/** An org right after it was connected. */
export const connectedView = z.object({
  organization_id: z.string(),
  instance_url: z.string(),
  username: z.string(),
  api_version: z.string(),
});
export type Connected = CamelCased<typeof connectedView>;
