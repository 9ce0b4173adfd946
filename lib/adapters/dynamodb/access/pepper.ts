import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import * as z from "zod/mini";
import type { Pepper, Vault } from "../../../access/ports.ts";
import { SERVICE } from "../../../model/resources.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { updateIf } from "../client/transact.ts";

const KEY = { pk: "service#secrets", sk: "token-pepper" };

/** The pepper as an item beside the workspaces, sealed; a process reads it once. */
export function pepper(database: Database, vault: Vault): Pepper {
  let known: KeyObject | null = null;

  const read = async (): Promise<KeyObject | null> => {
    known ??= await readKept(database, vault);
    return known;
  };

  return {
    read,
    readOrCreate: async () => {
      const existing = await read();
      if (existing) return existing;
      const secret = await vault.seal(SERVICE, randomBytes(32).toString("base64"));
      await updateIf(database, "workspaces", {
        Key: KEY,
        UpdateExpression: "SET secret = :secret",
        // Of two that create it at once, the first one's stays.
        ConditionExpression: "attribute_not_exists(pk)",
        ExpressionAttributeValues: { ":secret": secret },
      });
      const made = await read();
      if (!made) throw new Error("the service's token secret vanished while it was created");
      return made;
    },
  };
}

const item = z.object({ secret: z.string() });

async function readKept(database: Database, vault: Vault): Promise<KeyObject | null> {
  const stored = await readItem(database, "workspaces", KEY);
  return stored === undefined ? null : createSecretKey(await vault.open(SERVICE, item.parse(stored).secret), "base64");
}
