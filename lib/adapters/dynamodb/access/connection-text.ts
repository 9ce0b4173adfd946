import * as z from "zod/mini";
import {
  type PostgresConnection,
  type SalesforceConnection,
  SCHEMA_CHANGES,
} from "../../../model/workspace/workspace.ts";

const numbers = z.optional(z.record(z.string(), z.number()));

const postgres = z.object({
  url: z.string(),
  schema: z.string(),
  schemaChanges: z._default(z.enum(SCHEMA_CHANGES), "apply"),
  maxConnections: z.optional(z.number()),
  retention: numbers,
  logAutovacuum: numbers,
});

const credentials = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("refresh_token"),
    clientId: z.string(),
    clientSecret: z.nullable(z.string()),
    refreshToken: z.string(),
    rotatedAt: z.optional(z.string()),
  }),
  z.object({
    kind: z.literal("password"),
    clientId: z.string(),
    clientSecret: z.string(),
    username: z.string(),
    password: z.string(),
  }),
  z.object({ kind: z.literal("client_credentials"), clientId: z.string(), clientSecret: z.string() }),
  z.object({
    kind: z.literal("jwt_bearer"),
    clientId: z.string(),
    username: z.string(),
    privateKey: z.string(),
    audience: z.optional(z.string()),
  }),
]);

const salesforce = z.object({
  loginUrl: z.string(),
  instanceUrl: z.string(),
  organizationId: z.string(),
  userId: z.string(),
  formerUserIds: z._default(z.array(z.string()), []),
  apiVersion: z.string(),
  credentials,
  accessToken: z.nullable(z.string()),
});

/** A connection as the text that is sealed, and back. */
export const writePostgres = (connection: PostgresConnection): string => JSON.stringify(connection);
export const readPostgres = (text: string): PostgresConnection => postgres.parse(JSON.parse(text));
export const writeSalesforce = (connection: SalesforceConnection): string => JSON.stringify(connection);
export const readSalesforce = (text: string): SalesforceConnection => salesforce.parse(JSON.parse(text));
