import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Vault } from "../../access/vault.ts";
import type { AuditEntry } from "../../model/audit.ts";
import type { ConnectionSettings, PendingAuthorization } from "../../settings/ports.ts";
import type { Database } from "./client.ts";
import { commit } from "./commit.ts";
import { writePostgres, writeSalesforce } from "./connection-text.ts";
import type { Write } from "./transact.ts";
import { workspaceKey } from "./workspace-key.ts";

/** Connections in their workspace's item, and sign-ins that wait for a browser beside it; all of it sealed. */
export function connectionSettings(database: Database, vault: Vault): ConnectionSettings {
  return {
    setPostgres: async (workspaceId, connection, entry) => {
      const sealed = await vault.seal(workspaceId, writePostgres(connection));
      await change(database, workspaceId, entry, "SET postgres = :sealed", sealed);
    },

    setSalesforce: async (workspaceId, connection, entry) => {
      const sealed = await vault.seal(workspaceId, writeSalesforce(connection));
      await change(database, workspaceId, entry, "SET salesforce = :sealed REMOVE renewal_until", sealed);
    },

    keepAuthorization: async (workspaceId, state, pending, until) => {
      const sealed = await vault.seal(workspaceId, JSON.stringify(pending));
      const Item = { ...keyOf(workspaceId, state), sealed, expires_at: Math.floor(until.getTime() / 1000) };
      await database.client.send(new PutCommand({ TableName: database.table("workspaces"), Item }));
    },

    takeAuthorization: async (workspaceId, state, at) => {
      const { Attributes } = await database.client.send(
        new DeleteCommand({
          TableName: database.table("workspaces"),
          Key: keyOf(workspaceId, state),
          ReturnValues: "ALL_OLD",
        }),
      );
      if (Attributes === undefined) return null;
      const { sealed, expires_at } = item.parse(Attributes);
      return expires_at <= at.getTime() / 1000 ? null : readPending(await vault.open(workspaceId, sealed));
    },
  };
}

const keyOf = (workspaceId: string, state: string) => ({ pk: workspaceId, sk: `authorization#${state}` });

const item = z.object({ sealed: z.string(), expires_at: z.number() });

const pendingText = z.object({
  loginUrl: z.string(),
  clientId: z.string(),
  clientSecret: z.nullable(z.string()),
  redirectUri: z.string(),
  codeVerifier: z.string(),
});

const readPending = (text: string): PendingAuthorization => pendingText.parse(JSON.parse(text));

async function change(
  database: Database,
  workspaceId: string,
  entry: AuditEntry,
  UpdateExpression: string,
  sealed: string,
): Promise<void> {
  const write: Write = {
    Update: {
      TableName: database.table("workspaces"),
      Key: workspaceKey(workspaceId),
      UpdateExpression,
      ConditionExpression: "attribute_exists(pk)",
      ExpressionAttributeValues: { ":sealed": sealed },
    },
  };
  await commit(database, { writes: [write], audit: [entry], events: [] });
}
