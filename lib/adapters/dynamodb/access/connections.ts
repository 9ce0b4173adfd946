import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import * as z from "zod/mini";
import type { Vault } from "../../../access/ports.ts";
import type { ConnectionSettings, PendingAuthorization } from "../../../settings/ports.ts";
import type { ConnectionStore } from "../../../sync/ports/session-ports.ts";
import { retry } from "../../retry.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { ConditionFailed, jitteredPause, updateIf } from "../client/transact.ts";
import { commit } from "../commit.ts";
import { readPostgres, readSalesforce, writePostgres, writeSalesforce } from "./connection-text.ts";
import { workspaceKey } from "./workspace-key.ts";

/** Two people who change one connection at once; the second makes its change of the first one's outcome. */
const ATTEMPTS = 5;

/**
 * A workspace's connections in its item, and sign-ins that wait for a browser beside it; all of it sealed. The sealed
 * text of a connection is its version.
 */
export function connections(database: Database, vault: Vault): ConnectionStore & ConnectionSettings {
  const itemOf = (workspaceId: string) => ({ TableName: database.table("workspaces"), Key: workspaceKey(workspaceId) });
  const readKept = async (workspaceId: string) =>
    item.parse((await readItem(database, "workspaces", workspaceKey(workspaceId))) ?? {});

  return {
    read: async (workspaceId) => {
      const { salesforce: version, renewal_until: until } = await readKept(workspaceId);
      if (version === undefined) return null;
      const connection = readSalesforce(await vault.open(workspaceId, version));
      return { connection, version, renewalUntil: until === undefined ? null : new Date(until) };
    },

    claimRenewal: async (workspaceId, { version, renewalUntil: before }, now, until) => {
      if (before !== null && before > now) return false;
      const claimed = await updateIf(database, "workspaces", {
        Key: workspaceKey(workspaceId),
        UpdateExpression: "SET renewal_until = :until",
        ConditionExpression: `salesforce = :version AND ${before ? "renewal_until = :before" : "attribute_not_exists(renewal_until)"}`,
        ExpressionAttributeValues: {
          ":version": version,
          ":until": until.getTime(),
          ...(before && { ":before": before.getTime() }),
        },
      });
      return claimed !== null;
    },

    abandonRenewal: async (workspaceId, version, lostAt) => {
      await updateIf(database, "workspaces", {
        Key: workspaceKey(workspaceId),
        UpdateExpression: lostAt ? "SET renewal_until = :lost" : "REMOVE renewal_until",
        ConditionExpression: "salesforce = :version",
        ExpressionAttributeValues: { ":version": version, ...(lostAt && { ":lost": lostAt.getTime() }) },
      });
    },

    keep: async (workspaceId, version, connection) => {
      await updateIf(database, "workspaces", {
        Key: workspaceKey(workspaceId),
        UpdateExpression: "SET salesforce = :sealed REMOVE renewal_until",
        ConditionExpression: "salesforce = :version",
        ExpressionAttributeValues: {
          ":version": version,
          ":sealed": await vault.seal(workspaceId, writeSalesforce(connection)),
        },
      });
    },

    changePostgres: (workspaceId, change) => {
      const once = async () => {
        const { postgres: version } = await readKept(workspaceId);
        const before = version === undefined ? null : readPostgres(await vault.open(workspaceId, version));
        const { connection, entry } = change(before);
        const Update = {
          ...itemOf(workspaceId),
          UpdateExpression: "SET postgres = :sealed",
          ConditionExpression: `attribute_exists(pk) AND ${version === undefined ? "attribute_not_exists(postgres)" : "postgres = :version"}`,
          ExpressionAttributeValues: {
            ":sealed": await vault.seal(workspaceId, writePostgres(connection)),
            ...(version !== undefined && { ":version": version }),
          },
        };
        await commit(database, { writes: [{ Update }], audit: [entry], events: [] });
        return connection;
      };
      return retry(ATTEMPTS, (error) => error instanceof ConditionFailed, once, jitteredPause);
    },

    setSalesforce: async (workspaceId, connection, entry) => {
      const Update = {
        ...itemOf(workspaceId),
        UpdateExpression: "SET salesforce = :sealed REMOVE renewal_until",
        ConditionExpression: "attribute_exists(pk)",
        ExpressionAttributeValues: { ":sealed": await vault.seal(workspaceId, writeSalesforce(connection)) },
      };
      await commit(database, { writes: [{ Update }], audit: [entry], events: [] });
    },

    keepAuthorization: async (workspaceId, state, pending, until) => {
      const sealed = await vault.seal(workspaceId, JSON.stringify(pending));
      const Item = { ...authorizationKey(workspaceId, state), sealed, expires_at: Math.floor(until.getTime() / 1000) };
      await database.client.send(new PutCommand({ TableName: database.table("workspaces"), Item }));
    },

    takeAuthorization: async (workspaceId, state, at) => {
      const { Attributes } = await database.client.send(
        new DeleteCommand({
          TableName: database.table("workspaces"),
          Key: authorizationKey(workspaceId, state),
          ReturnValues: "ALL_OLD",
        }),
      );
      if (Attributes === undefined) return null;
      const { sealed, expires_at } = authorization.parse(Attributes);
      return expires_at <= at.getTime() / 1000 ? null : readPending(await vault.open(workspaceId, sealed));
    },
  };
}

const authorizationKey = (workspaceId: string, state: string) => ({ pk: workspaceId, sk: `authorization#${state}` });

const item = z.object({
  postgres: z.optional(z.string()),
  salesforce: z.optional(z.string()),
  renewal_until: z.optional(z.number()),
});

const authorization = z.object({ sealed: z.string(), expires_at: z.number() });

const pendingText = z.object({
  loginUrl: z.string(),
  clientId: z.string(),
  clientSecret: z.nullable(z.string()),
  redirectUri: z.string(),
  codeVerifier: z.string(),
});

const readPending = (text: string): PendingAuthorization => pendingText.parse(JSON.parse(text));
