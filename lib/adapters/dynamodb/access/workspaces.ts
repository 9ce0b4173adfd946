import * as z from "zod/mini";
import type { SealedWorkspace, Vault, Workspaces } from "../../../access/ports.ts";
import { DEPLOYMENT } from "../../../model/workspace/pause.ts";
import type { PostgresConnection, SalesforceConnection, Workspace } from "../../../model/workspace/workspace.ts";
import type { Database } from "../client/client.ts";
import { settingOf } from "../client/difference.ts";
import { readItem, scanAll } from "../client/read-item.ts";
import { storedTime } from "../client/stored-time.ts";
import type { Write } from "../client/transact.ts";
import { commit, commitIf } from "../commit.ts";
import { readPostgres, readSalesforce, writePostgres, writeSalesforce } from "./connection-text.ts";
import { workspaceKey } from "./workspace-key.ts";

/** Workspaces in DynamoDB, each connection sealed as one text. */
export function workspaces(database: Database, vault: Vault): Workspaces {
  return {
    find: async (workspaceId) => {
      const stored = await readItem(database, "workspaces", workspaceKey(workspaceId));
      return stored === undefined ? null : sealedWorkspace(vault, stored);
    },

    list: async () => {
      const found: SealedWorkspace[] = [];
      const pages = scanAll(database, "workspaces", {
        FilterExpression: "sk = :sk AND pk <> :deployment",
        ExpressionAttributeValues: { ":sk": workspaceKey("").sk, ":deployment": DEPLOYMENT },
      });
      for await (const items of pages) found.push(...items.flatMap((stored) => sealedWorkspace(vault, stored) ?? []));
      return found.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    },

    create: async (workspace, entry) => {
      const Put = {
        TableName: database.table("workspaces"),
        Item: await sealItem(vault, workspace),
        ConditionExpression: "attribute_not_exists(pk)",
      };
      await commit(database, { writes: [{ Put }], audit: [entry], events: [] });
    },

    rename: (workspaceId, name, entry) =>
      commitIf(database, { writes: [setName(database, workspaceId, name)], audit: [entry], events: [] }),

    switchPause: (workspaceId, { paused, at, by, reason }, entry) => {
      const Update = {
        TableName: database.table("workspaces"),
        Key: workspaceKey(workspaceId),
        UpdateExpression: "SET pause_switch = :switch",
        // What was never paused is not resumed.
        ConditionExpression: `attribute_exists(pk) AND attribute_not_exists(deleted_at) AND (pause_switch.paused = :other${paused ? " OR attribute_not_exists(pause_switch)" : ""})`,
        ExpressionAttributeValues: { ":switch": { paused, at: at.toISOString(), by, reason }, ":other": !paused },
      };
      return commitIf(database, { writes: [{ Update }], audit: [entry], events: [] });
    },
  };
}

const setName = (database: Database, workspaceId: string, name: string): Write => ({
  Update: {
    TableName: database.table("workspaces"),
    Key: workspaceKey(workspaceId),
    ...settingOf({ name }),
    ConditionExpression: "attribute_exists(pk) AND attribute_not_exists(deleted_at)",
  },
});

const item = z.object({
  pk: z.string(),
  name: z.string(),
  created_at: z.string(),
  deleted_at: z.optional(z.string()),
  postgres: z.optional(z.string()),
  salesforce: z.optional(z.string()),
  // Left out until the first pause, and by versions before this one.
  pause_switch: z.optional(
    z.object({ paused: z.boolean(), at: storedTime, by: z.string(), reason: z.nullable(z.string()) }),
  ),
});

async function sealItem(vault: Vault, { id, name, createdAt, postgres, salesforce }: Workspace) {
  return {
    ...workspaceKey(id),
    name,
    created_at: createdAt.toISOString(),
    ...(postgres && { postgres: await vault.seal(id, writePostgres(postgres)) }),
    ...(salesforce && { salesforce: await vault.seal(id, writeSalesforce(salesforce)) }),
  };
}

function sealedWorkspace(vault: Vault, stored: Record<string, unknown>): SealedWorkspace | null {
  const { pk: id, name, created_at, deleted_at, postgres, salesforce, pause_switch } = item.parse(stored);
  if (deleted_at !== undefined) return null;
  const createdAt = new Date(created_at);
  const open = async (): Promise<Workspace> => {
    const [openPostgres, openSalesforce] = await Promise.all([
      openText<PostgresConnection>(vault, id, postgres, readPostgres),
      openText<SalesforceConnection>(vault, id, salesforce, readSalesforce),
    ]);
    return { id, name, createdAt, postgres: openPostgres, salesforce: openSalesforce };
  };
  const isConnected = postgres !== undefined && salesforce !== undefined;
  return { id, name, createdAt, isConnected, pauseSwitch: pause_switch ?? null, open };
}

async function openText<Connection>(
  vault: Vault,
  workspaceId: string,
  sealed: string | undefined,
  read: (text: string) => Connection,
): Promise<Connection | null> {
  return sealed === undefined ? null : read(await vault.open(workspaceId, sealed));
}
