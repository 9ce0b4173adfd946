import pLimit from "p-limit";
import type { Vault } from "../../../access/ports.ts";
import { SERVICE, type TableName } from "../../../model/resources.ts";
import type { Database } from "../client/client.ts";
import { scanAll } from "../client/read-item.ts";
import { updateIf } from "../client/transact.ts";
import { PEPPER_KEY } from "./pepper.ts";

/** A value that still depends on an earlier key, and why. */
export interface Unsealed {
  readonly workspaceId: string;
  readonly kind: string;
  readonly reason: string;
}

interface Needs {
  readonly database: Database;
  /** One that has sealed nothing yet: its data keys are of the KMS key as it is now. */
  readonly vault: Vault;
  readonly now: () => Date;
  readonly onProgress: (resealed: number) => void;
}

/**
 * Seals every stored secret again under data keys of its own. A value that a function changes meanwhile is never
 * overwritten, and is visited again, until a pass finds nothing to do. Interrupted anywhere, it can be repeated.
 */
export async function resealAll(needs: Needs): Promise<{ resealed: number; remaining: readonly Unsealed[] }> {
  await needs.vault.seal(SERVICE, ""); // without a key that works nothing is begun
  const own = new Set<string>();
  const atOnce = pLimit(AT_ONCE);
  let resealed = 0;
  let remaining: Unsealed[] = [];
  for (let [pass, isMoving] = [1, true]; isMoving && pass <= PASSES; pass += 1) {
    const before = resealed;
    remaining = [];
    const visit = async (value: SealedValue) => {
      if (own.has(encryptedKeyOf(value.sealed))) return;
      const reason = await reseal(needs, value, own);
      if (reason === null) needs.onProgress(++resealed);
      else remaining.push({ workspaceId: value.workspaceId, kind: value.kind, reason });
    };
    for (const table of Object.keys(KINDS) as (keyof typeof KINDS)[])
      for await (const items of scanAll(needs.database, table, { ConsistentRead: true })) {
        const values = items.flatMap((item) => valuesIn(table, item, needs.now()));
        await Promise.all(values.map((value) => atOnce(() => visit(value))));
      }
    isMoving = resealed > before || remaining.some(({ reason }) => reason === CHANGED);
  }
  return { resealed, remaining };
}

/** The encrypted data key that a sealed text carries behind its version: those of one key have the same. */
const encryptedKeyOf = (sealed: string): string => sealed.split(".")[1] ?? "";

const AT_ONCE = 10;
const PASSES = 5;

/** The attributes that hold sealed texts, by table, each with its name for people. */
const KINDS = {
  workspaces: {
    secret: "pepper",
    former: "former pepper",
    postgres: "database URL",
    salesforce: "Salesforce connection",
    sealed: "unfinished sign-in",
  },
  webhooks: { secret: "webhook secret", next_secret: "prepared webhook secret" },
  rateLimits: { answer: "answer to a named request" },
} as const satisfies Partial<Record<TableName, Readonly<Record<string, string>>>>;

interface SealedValue {
  readonly table: keyof typeof KINDS;
  readonly Key: Readonly<Record<string, unknown>>;
  readonly workspaceId: string;
  readonly kind: string;
  /** Where it is in its item. */
  readonly path: string;
  readonly sealed: string;
}

function valuesIn(
  table: keyof typeof KINDS,
  item: Readonly<Record<string, unknown>>,
  at: Date,
): readonly SealedValue[] {
  const { pk, sk, workspace_id: owner, expires_at: expiresAt, previous_secrets: previous } = item;
  if (typeof expiresAt === "number" && expiresAt <= at.getTime() / 1000) return [];
  const common = {
    table,
    Key: sk === undefined ? { pk } : { pk, sk },
    workspaceId: String(pk === PEPPER_KEY.pk ? SERVICE : (owner ?? pk)),
  };
  const replaced = Array.isArray(previous) ? (previous as readonly { readonly secret?: unknown }[]) : [];
  const values = [
    ...Object.entries(KINDS[table]).map(([path, kind]) => ({ path, kind, sealed: item[path] })),
    ...replaced.map(({ secret }, place) => ({
      ...{ path: `previous_secrets[${place}].secret`, kind: "replaced webhook secret", sealed: secret },
    })),
  ];
  return values.flatMap(({ sealed, ...value }) =>
    typeof sealed === "string" ? [{ ...common, ...value, sealed }] : [],
  );
}

/** Null when it is done, else why not. A session is left to the process that renews it, which keeps what it got. */
async function reseal({ database, vault, now }: Needs, value: SealedValue, own: Set<string>): Promise<string | null> {
  const { table, Key, workspaceId, path, sealed } = value;
  let plain: string;
  try {
    plain = await vault.open(workspaceId, sealed);
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
  const fresh = await vault.seal(workspaceId, plain);
  own.add(encryptedKeyOf(fresh));
  const isSession = path === "salesforce";
  const written = await updateIf(database, table, {
    Key,
    UpdateExpression: `SET ${path} = :fresh`,
    ConditionExpression: `${path} = :sealed${isSession ? " AND (attribute_not_exists(renewal_until) OR renewal_until < :idle)" : ""}`,
    ExpressionAttributeValues: {
      ...{ ":fresh": fresh, ":sealed": sealed },
      ...(isSession && { ":idle": now().getTime() - RENEWAL_MILLISECONDS }),
    },
  });
  return written === null ? CHANGED : null;
}

const CHANGED = "it was changed, or its session renewed, meanwhile: repeat the command";

/** No renewal of a session takes longer. */
const RENEWAL_MILLISECONDS = 5 * 60_000;
