import { createSecretKey, randomBytes } from "node:crypto";
import * as z from "zod/mini";
import type { Pepper, PepperKey, Peppers, Vault } from "../../../access/ports.ts";
import { createCache } from "../../../model/cache.ts";
import { SERVICE } from "../../../model/resources.ts";
import type { Database } from "../client/client.ts";
import { readItem } from "../client/read-item.ts";
import { optionalTime } from "../client/stored-time.ts";
import { updateIf } from "../client/transact.ts";

/** The pepper's item, beside those of the workspaces. */
export const PEPPER_KEY = { pk: "service#secrets", sk: "token-pepper" };

/** A process reads the item again after so long. */
const KNOWN_MILLISECONDS = 60_000;

/** A new pepper is used so long after a rotation: by then every process has read of it, whatever its clock says. */
export const ANNOUNCED_MILLISECONDS = 2 * KNOWN_MILLISECONDS;

/** The pepper as an item beside the workspaces, sealed. */
export function pepper(database: Database, vault: Vault, now: () => Date): Pepper {
  const kept = createCache<KeptPepper | null>({
    ttl: { milliseconds: KNOWN_MILLISECONDS, now },
    keeps: (found) => found !== null,
  });
  const read = async (): Promise<Peppers | null> => {
    const found = await kept("", () => readKept(database, vault));
    return found && inUse(found, now());
  };
  return {
    read,
    readOrCreate: async () => {
      const existing = await read();
      if (existing) return existing.current;
      const secret = await vault.seal(SERVICE, newPepper());
      await updateIf(database, "workspaces", {
        Key: PEPPER_KEY,
        UpdateExpression: "SET secret = :secret",
        // Of two that create it at once, the first one's stays.
        ConditionExpression: "attribute_not_exists(pk)",
        ExpressionAttributeValues: { ":secret": secret },
      });
      const made = await readKept(database, vault);
      if (!made) throw new Error("the service's token secret vanished while it was created");
      return made.newest;
    },
  };
}

/** A secret of 256 random bits. */
export const newPepper = (): string => randomBytes(32).toString("base64");

interface KeptPepper {
  readonly newest: PepperKey;
  readonly former: PepperKey | null;
  readonly usedFrom: Date | null;
}

/** Until its time comes the newest one is only announced. */
function inUse({ newest, former, usedFrom }: KeptPepper, at: Date): Peppers {
  return former && usedFrom && at < usedFrom ? { current: former, other: newest } : { current: newest, other: former };
}

/** The pepper's item; versions before the first rotation write the secret alone. */
export const pepperItem = z.object({
  secret: z.string(),
  number: z._default(z.number(), 1),
  /** The secret before, until an operator ends it. */
  former: z.optional(z.string()),
  used_from: optionalTime,
});

async function readKept(database: Database, vault: Vault): Promise<KeptPepper | null> {
  const stored = await readItem(database, "workspaces", PEPPER_KEY);
  if (stored === undefined) return null;
  const { secret, number, former, used_from: usedFrom } = pepperItem.parse(stored);
  const open = async (sealed: string) => createSecretKey(await vault.open(SERVICE, sealed), "base64");
  return {
    newest: { number, key: await open(secret) },
    former: former === undefined ? null : { number: number - 1, key: await open(former) },
    usedFrom,
  };
}
