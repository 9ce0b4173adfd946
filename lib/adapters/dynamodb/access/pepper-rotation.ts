import type { Vault } from "../../../access/ports.ts";
import type { FormerToken, PepperRotation } from "../../../access/rotate-pepper.ts";
import { SERVICE } from "../../../model/resources.ts";
import type { Database } from "../client/client.ts";
import { readEach, readItem, scanAll } from "../client/read-item.ts";
import { commitIf } from "../commit.ts";
import { doorbellsBefore } from "../engine/doorbells.ts";
import { newPepper, PEPPER_KEY, pepperItem } from "./pepper.ts";
import { endToken, readToken } from "./tokens.ts";

/** The pepper's item as an operator changes it; a change is one transaction with its audit entry. */
export function pepperRotation(database: Database, vault: Vault): PepperRotation {
  const item = { TableName: database.table("workspaces"), Key: PEPPER_KEY };
  return {
    rotate: async (usedFrom, entry) => {
      const Update = {
        ...item,
        UpdateExpression:
          "SET former = secret, secret = :secret, used_from = :from, #number = if_not_exists(#number, :one) + :one",
        ConditionExpression: "attribute_exists(secret) AND attribute_not_exists(former)",
        ExpressionAttributeNames: { "#number": "number" },
        ExpressionAttributeValues: {
          ":secret": await vault.seal(SERVICE, newPepper()),
          ":from": usedFrom.toISOString(),
          ":one": 1,
        },
      };
      return commitIf(database, { writes: [{ Update }], audit: [entry], events: [] });
    },

    findFormer: async () => {
      const stored = await readItem(database, "workspaces", PEPPER_KEY);
      const { number, former, used_from: usedFrom } = pepperItem.parse(stored ?? { secret: "" });
      if (former === undefined || usedFrom === null) return null;
      const tokens: FormerToken[] = [];
      const pages = scanAll(database, "tokens", {
        FilterExpression: "attribute_not_exists(pepper) OR pepper < :number",
        ExpressionAttributeValues: { ":number": number },
        ConsistentRead: true,
      });
      for await (const items of pages)
        tokens.push(...readEach(items, (stored) => ({ ...readToken(stored), hash: String(stored["pk"]) })));
      return { usedFrom, tokens, doorbells: await doorbellsBefore(database, number) };
    },

    revokeFormer: ({ hash }, entry) => endToken(database, { pk: hash }, { revokedAt: entry.createdAt }, entry),

    end: (usedFrom, entry) => {
      const Update = {
        ...item,
        UpdateExpression: "REMOVE former, used_from",
        ConditionExpression: "attribute_exists(former) AND used_from = :from",
        ExpressionAttributeValues: { ":from": usedFrom.toISOString() },
      };
      return commitIf(database, { writes: [{ Update }], audit: [entry], events: [] });
    },
  };
}
